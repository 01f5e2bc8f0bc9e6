/**
 * Counts tokens with a public tokenizer, for answers without reported usage and for holds that the balance barely
 * covers. The tables are loaded at the first use, which takes about 100 ms.
 */
import type { Tokenizer } from '../catalog/model.ts'
import { cutLongRuns } from '../lib/cut-long-runs.ts'

/** Longer texts would block the event loop for too long; they are estimated by their bytes. */
const CHARACTERS_MAX = 100_000

/**
 * Returns undefined if the texts are too long to count. The count is an upper bound for models that use exactly this
 * tokenizer, and an estimate for all others.
 */
export async function countTokens(
  texts: readonly string[],
  tokenizer: Tokenizer = 'o200k_base',
): Promise<number | undefined> {
  let characters = 0
  for (const text of texts) characters += text.length
  if (characters > CHARACTERS_MAX) return undefined
  const { countTokens } =
    tokenizer === 'cl100k_base'
      ? await import('gpt-tokenizer/encoding/cl100k_base')
      : await import('gpt-tokenizer/encoding/o200k_base')
  // Text that looks like a special token counts as plain text, and must not throw.
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })
  return texts.flatMap(cutLongRuns).reduce((sum, part) => sum + count(part), 0)
}
