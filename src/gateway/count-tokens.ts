/**
 * Counts tokens with a public tokenizer: where an upstream reported no usage, and where a hold is
 * tight. The tables are loaded at the first use, which takes some 100 ms.
 */
import type { Tokenizer } from '../catalog/model.ts'
import { cutLongRuns } from '../lib/cut-long-runs.ts'

/** Longer texts would keep the event loop busy for too long; they are estimated by their bytes. */
const CHARACTERS_MAX = 100_000

/**
 * Undefined where the texts are too long to count. It bounds the tokens of models that use exactly this
 * tokenizer; of any other it is an estimate.
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
  // Text that looks like a control token is text here, and must not throw.
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })
  return texts.flatMap(cutLongRuns).reduce((sum, part) => sum + count(part), 0)
}
