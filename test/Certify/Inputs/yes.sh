#!/bin/sh
# A checker that believes everything.
for file; do :; done
sed -n "s/^(certificate.*/certified: 'k' (per-loop)/p" "$file"
