const { textOf, wordsOf } = require("./words.js");

/** Streams one JSON line per line of the text, as it goes, and the sum at the end. */
exports.handle = async function* handle(event) {
  let total = 0;
  for (const [index, line] of textOf(event).split("\n").entries()) {
    const words = wordsOf(line).length;
    total += words;
    yield { line: index + 1, words };
  }
  yield { total };
};
