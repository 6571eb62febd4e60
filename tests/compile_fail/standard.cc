#include "tr/tr.h"

int main() { return TOKEN; }
