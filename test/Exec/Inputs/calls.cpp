// What the functions of calls.mlir are given, for two runs.
#include HEADER

#include <cstdio>

void calls::fill(int64_t A, int64_t B, float *x) {
  for (int i = 0; i < 8; ++i) {
    x[i] = static_cast<float>(10 * A + B);
  }
}

void calls::use(int64_t A, int64_t B, const float *x, const float *first, int32_t *y, float *total) {
  bool isRight = (first != nullptr) == (B == 0) && x[0] == static_cast<float>(10 * A + B) && (y - calls::y.data()) % 8 == 4;
  for (int i = 0; i < 8; ++i) {
    total[i] += isRight ? x[i] : -1000;
  }
}

void calls::tell(const float *total) {
  std::printf("sum %g\n", total[7]);
}

int main(int, char **arguments) {
  calls::run(2, 3); // m, n
  calls::run(0, 4);
  calls::x.resize(static_cast<size_t>(std::atoi(arguments[1])));
  calls::run(0, 101);
}
