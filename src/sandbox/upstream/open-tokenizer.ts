import { cutLongRuns } from '../../lib/cut-long-runs.ts'
import { createRecentMap } from './recent-map.ts'

/** The shortest text that can be sent by itself: whole characters, of one token or a few. */
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

/** Texts repeat in load tests and in the history of a conversation. Long ones would fill the memory. */
const CACHED_ENTRIES_MAX = 1000
const CACHED_CHARACTERS_MAX = 16_384

/** Text that looks like a control token is text: users may write about `<|endoftext|>`. */
const AS_PLAIN_TEXT = { disallowedSpecial: new Set<string>() }

/** Takes some 140 ms, because the vocabulary is large. */
export async function openTokenizer(): Promise<Tokenizer> {
  const encoding = await import('gpt-tokenizer/encoding/o200k_base')
  const counted = createRecentMap<number>(CACHED_ENTRIES_MAX)
  const split = createRecentMap<TokenizedText>(CACHED_ENTRIES_MAX)

  return {
    count: remember(counted, (text) =>
      cutLongRuns(text).reduce((sum, part) => sum + encoding.countTokens(part, AS_PLAIN_TEXT), 0),
    ),
    split: remember(split, (text) => {
      // A lone surrogate has no bytes of its own; on the wire it would become this anyway.
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

function remember<Value>(
  known: { get(key: string): Value | undefined; set(key: string, value: Value): void },
  compute: (text: string) => Value,
): (text: string) => Value {
  return (text) => {
    if (text.length > CACHED_CHARACTERS_MAX) return compute(text)
    const found = known.get(text)
    if (found !== undefined) return found
    const value = compute(text)
    known.set(text, value)
    return value
  }
}
