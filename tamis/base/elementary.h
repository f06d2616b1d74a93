// Elementary functions. The C library has other code for CPUs with FMA, and so other last bits there; for the baseline
// CPU (cpu.h) these are computed by additions, multiplications, divisions and square roots alone, to about one unit in
// the last place.
#pragma once

namespace tamis::elementary {

double exp(double x);
double log(double x);
double pow(double x, double y);  // x >= 0
double sin(double x);
double cos(double x);
double atan2(double y, double x);
double hypot(double x, double y);

// What the baseline CPU gets, on any CPU.
namespace portable {
double exp(double x);
double log(double x);
double pow(double x, double y);
double sin(double x);
double cos(double x);
double atan2(double y, double x);
double hypot(double x, double y);
}  // namespace portable

}  // namespace tamis::elementary
