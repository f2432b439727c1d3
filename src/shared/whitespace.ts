/** Characters that Python's `str.isspace()` knows, as the body of a character class. JavaScript's \s has others. */
export const spaces = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
