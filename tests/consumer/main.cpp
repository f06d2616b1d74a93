// A program outside the project: ranks the columns of a small table in memory.
#include <tamis/tamis.h>

#include <cstdio>
#include <vector>

int main() {
  // Two groups of rows that differ in column 1 only; column 0 is small noise.
  const std::vector<double> X = {0.1, 5, -0.1, 5.1, 0.0, 4.9, 0.1, -5, -0.1, -5.1, 0.0, -4.9};
  const tamis::DenseView view{X.data(), tamis::DType::f64, 6, 2, 2, 1};
  const tamis::Source source(tamis::make_dense_store(view));
  tamis::UfcmOptions options;
  options.clusters = 2;
  tamis::Context context;
  const tamis::Selection selection = tamis::ufcm(source, options, context);
  std::printf("best column: %d\n", static_cast<int>(selection.ranking.front()));
  return selection.ranking.front() == 1 ? 0 : 1;
}
