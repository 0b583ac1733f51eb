const { textOf, wordsOf } = require("./words.js");

/** How long somebody reads a text. */
exports.handle = (event) => {
  const words = wordsOf(textOf(event)).length;
  const seconds = Math.round((words / Number(process.env.WORDS_PER_MINUTE)) * 60);
  return { words, seconds };
};
