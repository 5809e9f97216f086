"""The limit of memory that each process of a walk has."""

import resource


def limit(mebibytes):
    """Of this process; 0: none. What it was started with stays the most."""
    most = resource.getrlimit(resource.RLIMIT_AS)[1]
    asked = mebibytes << 20
    if asked and (most == resource.RLIM_INFINITY or asked < most):
        resource.setrlimit(resource.RLIMIT_AS, (asked, asked))
