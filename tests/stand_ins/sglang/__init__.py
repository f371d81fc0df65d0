"""What of SGLang the detector touches, for tests where SGLang is not installed. A test holds it to SGLang's own."""
