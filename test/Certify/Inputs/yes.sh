#!/bin/sh
# A checker that believes everything.
echo "certified: 'k' (per-loop): 1 instruction"
