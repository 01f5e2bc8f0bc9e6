/**
 * Counts tokens with a public tokenizer, for answers without reported usage and for holds that the balance barely
 * covers. The tables are loaded at the first use, which takes about 100 ms.
 */
import type { encodeGenerator } from 'gpt-tokenizer/encoding/o200k_base'
import type { Tokenizer } from '../../money/catalog/model.ts'
import { cutLongRuns } from '../../platform/lib/cut-long-runs.ts'
import { createSharedSlices } from '../../platform/admission/turn.ts'

/** Longer texts would take too much of the processor, a microsecond each; they are estimated by their bytes. */
const CHARACTERS_MAX = 100_000
/**
 * The tokenizer keeps the tokens of the last pieces; by default of 100,000, in a map that the different texts of one
 * customer make large, and slow for all others.
 */
const PIECES_KEPT = 1_000
/** Text that looks like a special token counts as plain text, and must not throw. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/** All counts of this process take turns: together they keep the event loop no longer than one of them. */
const inSharedSlices = createSharedSlices()

/**
 * Returns undefined if the texts are too long to count. The count is an upper bound for models that use exactly this
 * tokenizer, and an estimate for all others.
 */
export async function countTokens(
  texts: readonly string[],
  tokenizer: Tokenizer = 'o200k_base',
  charactersMax = CHARACTERS_MAX,
): Promise<number | undefined> {
  let characters = 0
  for (const text of texts) characters += text.length
  if (characters > charactersMax) return undefined
  const encoding =
    tokenizer === 'cl100k_base'
      ? await import('gpt-tokenizer/encoding/cl100k_base')
      : await import('gpt-tokenizer/encoding/o200k_base')
  encoding.setMergeCacheSize(PIECES_KEPT)
  let sum = 0
  const pieces = piecesOf(texts, encoding.encodeGenerator)
  await inSharedSlices(() => {
    const { value, done } = pieces.next()
    if (!done) sum += value
    return !done
  })
  return sum
}

/** The tokens of each piece that the tokenizer merges by itself: a word, or a part of a long run. */
function* piecesOf(
  texts: readonly string[],
  encode: typeof encodeGenerator,
): Generator<number, undefined> {
  // To find no piece in an empty text takes a microsecond, and a request may have tens of thousands of them.
  for (const text of texts)
    if (text !== '')
      for (const part of cutLongRuns(text))
        for (const tokens of encode(part, AS_PLAIN_TEXT)) yield tokens.length
}
