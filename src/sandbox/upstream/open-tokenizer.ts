import { cutLongRuns } from '../../platform/lib/cut-long-runs.ts'

/** The shortest text that can be sent separately: whole characters, of one token or a few. */
export interface Piece {
  readonly text: string
  readonly tokens: number
}

export interface TokenizedText {
  readonly text: string
  readonly tokens: number
  readonly pieces: readonly Piece[]
}

export interface Tokenizer {
  count(text: string): number
  split(text: string): TokenizedText
}

/** Texts repeat in load tests and in conversation histories. Long texts are not cached, to save memory. */
const CACHED_ENTRIES_MAX = 1000
const CACHED_CHARACTERS_MAX = 16_384

/** A text such as `<|endoftext|>` counts as plain text and not as a control token, because users may write about it. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/** Takes about 140 ms, because the vocabulary is large. */
export async function openTokenizer(): Promise<Tokenizer> {
  const encoding = await import('gpt-tokenizer/encoding/o200k_base')

  return {
    count: remember((text) =>
      cutLongRuns(text).reduce((sum, part) => sum + encoding.countTokens(part, AS_PLAIN_TEXT), 0),
    ),
    split: remember((text) => {
      // UTF-8 cannot encode an unpaired surrogate, so it would be replaced when it is sent anyway.
      const wellFormed = text.toWellFormed()
      const pieces = cutLongRuns(wellFormed).flatMap((part) => splitPart(part))
      return { text: wellFormed, tokens: sumTokens(pieces), pieces }
    }),
  }

  function splitPart(text: string): Piece[] {
    const tokens = encoding.encode(text, AS_PLAIN_TEXT)
    const pieces: Piece[] = []
    let taken = 0
    let sent = 0
    // The decoder holds back bytes until a character is whole, so a piece may be several tokens.
    for (const text of encoding.decodeGenerator(countTaken(tokens))) {
      pieces.push({ text, tokens: taken - sent })
      sent = taken
    }
    return pieces

    function* countTaken(all: readonly number[]): Generator<number> {
      for (const token of all) {
        taken += 1
        yield token
      }
    }
  }
}

export function sumTokens(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, piece) => sum + piece.tokens, 0)
}

/** Caches the results of the most recently used texts. */
function remember<Value>(compute: (text: string) => Value): (text: string) => Value {
  // A Map keeps the insertion order, so its first key is the least recently used one.
  const known = new Map<string, Value>()
  return (text) => {
    if (text.length > CACHED_CHARACTERS_MAX) return compute(text)
    const found = known.get(text)
    const value = found ?? compute(text)
    if (found !== undefined) known.delete(text)
    known.set(text, value)
    if (known.size > CACHED_ENTRIES_MAX) known.delete(known.keys().next().value as string)
    return value
  }
}
