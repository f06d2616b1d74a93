"""Writes digits.cpp: the UCI handwritten digits (as shipped with scikit-learn) as printable text.

Three pixels p, q, r of 0..16 make one number 289 p + 17 q + r < 71 * 71, written as two printable characters.

    python app/make_digits.py > app/digits.cpp
"""

import sklearn.datasets

LINE = 112


def character(code):
    # From '#', leaving out '?' (trigraphs) and the backslash.
    code += ord("#")
    code += code >= ord("?")
    code += code >= ord("\\")
    return chr(code)


def literals(text):
    return "\n".join(f'    "{text[i : i + LINE]}"' for i in range(0, len(text), LINE))


def main():
    digits = sklearn.datasets.load_digits()
    pixels = digits.data.astype(int).ravel()
    assert digits.data.shape == (1797, 64) and pixels.min() >= 0 and pixels.max() == 16
    numbers = 289 * pixels[0::3] + 17 * pixels[1::3] + pixels[2::3]
    packed = "".join(character(number // 71) + character(number % 71) for number in numbers)
    print('// Written by make_digits.py; the layout of the text is told there.\n#include "app/digits.h"\n')
    print("namespace tamis::app {\n\n// clang-format off")
    print(f"const char kDigitPixels[] =\n{literals(packed)};\n")
    print(f"const char kDigitClasses[] =\n{literals(''.join(map(str, digits.target)))};")
    print("// clang-format on\n\n}  // namespace tamis::app")


if __name__ == "__main__":
    main()
