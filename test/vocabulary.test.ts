/** Names use the field's words (docs/glossary.md), not the private ones that this project began with. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from './harness/read-sources.ts'

/** A word of a name, and the plain term for it. */
const PRIVATE_WORDS: Readonly<Record<string, string>> = {
  told: 'notified, reported, recorded',
  tell: 'notify, report, record',
  tells: 'notifies, reports, records',
  untold: 'not notified yet',
  learn: 'record, handle',
  away: 'unavailable, unreachable',
  lone: 'single',
  dear: 'expensive',
  dearer: 'higher',
  dearest: 'highest',
  dearness: 'price',
  wire: 'format, protocol',
}

/** Comments, strings and regular expressions have no names; templates may have some, between `${` and `}`. */
const NO_NAMES =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`/g

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_\-./]/)
}

/** Public names of the API and of the configuration, which stay. */
const PUBLIC_NAMES = new Set(['told_at', 'dearer'])

/** A name stands in the sources twenty times. */
const known = new Map<string, readonly string[]>()

function privateWords(name: string): readonly string[] {
  const words =
    known.get(name) ?? wordsOf(name).filter((word) => Object.hasOwn(PRIVATE_WORDS, word))
  known.set(name, words)
  return words
}

/** The start of a comment that says nothing without the code below it, such as "Per customer." or "Newest first." */
const FRAGMENT =
  /\/\*\*[\s*]*(?:Of|By|With|Without|For|In|As|From|At|Before|On|Per|Undefined|Newest|Oldest|True|False)\s(?:(?!\*\/)[\s\S])*\*\/\s*export .*/g

test('names are split into their words', () => {
  assert.deepEqual(wordsOf('isToldBy'), ['is', 'told', 'by'])
  assert.deepEqual(wordsOf('told_nano_brl'), ['told', 'nano', 'brl'])
  assert.deepEqual(privateWords('standaloneMarkup'), [])
})

test('no identifier, file or column has a word of the private dialect', () => {
  const found: string[] = []
  for (const { file, text } of readSources('{src,web/src,bench,test}/**/*.{ts,tsx}')) {
    // The contract of the API is generated, and its fields are public. This file lists the words.
    if (file.endsWith('api/contract.ts') || file === 'test/vocabulary.test.ts') continue
    for (const word of privateWords(file)) found.push(`${file}: ${word}`)
    const code = text.replaceAll(NO_NAMES, ' ')
    for (const [name] of code.matchAll(/[A-Za-z_$][\w$]*/g))
      for (const word of PUBLIC_NAMES.has(name) ? [] : privateWords(name))
        found.push(`${file}: ${name} (${PRIVATE_WORDS[word]})`)
  }
  for (const { file, text } of readSources('src/platform/db/schema.sql'))
    for (const [name] of text.replaceAll(/--[^\n]*/g, '').matchAll(/[a-z_]\w*/g))
      for (const word of PUBLIC_NAMES.has(name) ? [] : privateWords(name))
        found.push(`${file}: ${name} (${word})`)
  assert.deepEqual([...new Set(found)], [])
})

test('a doc comment of an export is a sentence, not a fragment', () => {
  const found: string[] = []
  for (const { file, text } of readSources('src/**/*.ts'))
    for (const [comment] of text.matchAll(FRAGMENT)) found.push(`${file}: ${comment}`)
  assert.deepEqual(found, [])
})
