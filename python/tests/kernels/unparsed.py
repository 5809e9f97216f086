def broken(x:
