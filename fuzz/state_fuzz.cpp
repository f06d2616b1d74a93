// Fuzzes the checkpoint: its header, and the state of UFCM, which must be refused or lead to a result.
#include <string>

#include "fuzz/harness.h"
#include "tamis/base/sha256.h"
#include "tamis/run/checkpoint.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {
namespace {

constexpr Index kRows = 12, kColumns = 3;

class Given final : public CheckpointStore {
 public:
  explicit Given(std::string_view state) : state_(state) {}
  std::string where() const override { return "fuzz"; }
  std::optional<std::string> load() override { return state_; }
  void save(const std::function<std::string()>&, bool) override {}

 private:
  std::string state_;
};

void take_up(std::string_view state, double alpha, Context& context) {
  static const std::vector<double> values = [] {
    std::vector<double> out(kRows * kColumns);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(i * i % 17) + 10.0 * (i % 2);
    return out;
  }();
  Given given(state);
  context.checkpoint = &given;
  UfcmOptions options;
  options.clusters = 2;
  options.iterations = 4;
  options.alpha = alpha;
  ufcm(Source(make_dense_store({values.data(), DType::f64, kRows, kColumns, kColumns, 1})), options, context);
}

// The first byte says what the rest is.
void read(std::string_view bytes, Context& context) {
  if (bytes.empty()) return;
  const std::string_view rest = bytes.substr(1);
  switch (bytes[0] & 3) {
    case 0: checkpoint_state(rest, "key", "fuzz"); break;
    case 1: checkpoint_state("tamis checkpoint 1\n" + sha256(rest) + "\n" + std::string(rest), "key", "fuzz"); break;
    case 2: take_up(rest, 1.0, context); break;
    default: take_up(rest, 0.5, context);
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
