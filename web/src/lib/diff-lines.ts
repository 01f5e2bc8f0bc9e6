/** Compares two texts line by line, and changed lines word by word. */
import { shortestEdit, type EditKind } from './shortest-edit.ts'

export interface DiffPart {
  readonly text: string
  readonly isChanged: boolean
}

export interface DiffLine {
  readonly kind: EditKind
  /** Undefined when the line is not in that text. */
  readonly numberBefore: number | undefined
  readonly numberAfter: number | undefined
  /** Joined, the parts are the line; the changed parts are flagged. */
  readonly parts: readonly DiffPart[]
}

/** A word, a run of spaces, or one other character. */
const TOKEN = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu
const LINE_END = /\r\n|\n|\r/
/** Two lines that share less than this are unrelated, not a changed line. */
const ALIKE_MIN = 0.4
/** How many lines ahead to look for the changed form of a line. */
const REACH = 8
const WORD_CHANGES_MAX = 400

export function diffLines(before: string, after: string): DiffLine[] {
  const edits = shortestEdit(before.split(LINE_END), after.split(LINE_END))
  const lines: DiffLine[] = []
  let numberBefore = 0
  let numberAfter = 0
  for (let index = 0; index < edits.length;) {
    if (edits[index]?.kind === 'same') {
      const parts = whole(edits[index++]?.text ?? '')
      lines.push({
        kind: 'same',
        numberBefore: ++numberBefore,
        numberAfter: ++numberAfter,
        parts,
      })
      continue
    }
    const end = edits.findIndex(({ kind }, at) => at > index && kind === 'same')
    const run = edits.slice(index, end === -1 ? edits.length : end)
    index += run.length
    const [removed, added] = changedLines(textsOf(run, 'removed'), textsOf(run, 'added'))
    for (const parts of removed)
      lines.push({
        kind: 'removed',
        numberBefore: ++numberBefore,
        numberAfter: undefined,
        parts,
      })
    for (const parts of added)
      lines.push({ kind: 'added', numberBefore: undefined, numberAfter: ++numberAfter, parts })
  }
  return lines
}

function textsOf(run: ReturnType<typeof shortestEdit>, wanted: EditKind): string[] {
  return run.filter(({ kind }) => kind === wanted).map(({ text }) => text)
}

type Parts = readonly DiffPart[]

/** Matches each removed line with the added line that replaced it, in order, and flags the changed words. */
function changedLines(removed: readonly string[], added: readonly string[]): [Parts[], Parts[]] {
  const removedParts = removed.map(whole)
  const addedParts = added.map(whole)
  let next = 0
  for (const [place, text] of removed.entries()) {
    const found = mostAlike(text, added, next)
    if (found === undefined) continue
    const words = shortestEdit(tokensOf(text), tokensOf(added[found] ?? ''), WORD_CHANGES_MAX)
    removedParts[place] = partsOf(words, 'removed')
    addedParts[found] = partsOf(words, 'added')
    next = found + 1
  }
  return [removedParts, addedParts]
}

function mostAlike(text: string, added: readonly string[], from: number): number | undefined {
  let found: number | undefined
  let best = ALIKE_MIN
  for (const [offset, other] of added.slice(from, from + REACH).entries()) {
    const likeness = likenessOf(text, other)
    if (likeness > best) {
      best = likeness
      found = from + offset
    }
  }
  return found
}

/** The share of words in common (Dice coefficient), from 0 to 1. */
function likenessOf(left: string, right: string): number {
  const words = wordsOf(left)
  const others = new Map<string, number>()
  for (const word of wordsOf(right)) others.set(word, (others.get(word) ?? 0) + 1)
  let shared = 0
  let total = words.length
  for (const count of others.values()) total += count
  for (const word of words) {
    const left = others.get(word) ?? 0
    if (left === 0) continue
    shared++
    others.set(word, left - 1)
  }
  return total === 0 ? 0 : (2 * shared) / total
}

function wordsOf(text: string): string[] {
  return tokensOf(text).filter((token) => /[\p{L}\p{N}]/u.test(token))
}

function tokensOf(text: string): string[] {
  return text.match(TOKEN) ?? []
}

function whole(text: string): Parts {
  return [{ text, isChanged: false }]
}

/** The parts of one side of the change; neighbours of one kind are merged. */
function partsOf(words: ReturnType<typeof shortestEdit>, side: 'removed' | 'added'): Parts {
  const parts: { text: string; isChanged: boolean }[] = []
  for (const { kind, text } of words) {
    if (kind !== 'same' && kind !== side) continue
    const isChanged = kind !== 'same'
    const last = parts.at(-1)
    if (last?.isChanged === isChanged) last.text += text
    else parts.push({ text, isChanged })
  }
  return parts
}
