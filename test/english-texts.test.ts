/** What the server writes for people has an English text: the catalogue is `src/platform/lib/en.json`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import english from '../src/platform/lib/en.json' with { type: 'json' }
import { readServerTexts } from './harness/server-texts.ts'

const CATALOGUE: Readonly<Record<string, string>> = english
/** The renderer gives each text of a template to `t`, so a literal need not be given. */
const MAILS = readServerTexts('src/deliveries/email/{*-templates,render-mail}.ts')
/** For programs. */
const NO_TEXT = /^(no template |GET \/v1|\{"weekly|\{0\}, CNPJ )/

test('every text of a mail has an English one, and the catalogue has no other', () => {
  const wanted = [...MAILS.texts.keys(), ...MAILS.others.keys()].filter(
    (text) => /\p{L}/u.test(text) && !NO_TEXT.test(text),
  )
  assert.ok(wanted.length > 200)
  assert.deepEqual(
    wanted.filter((text) => !Object.hasOwn(CATALOGUE, text)),
    [],
    'without English: add them to src/platform/lib/en.json',
  )
  assert.deepEqual(
    Object.keys(CATALOGUE).filter((text) => !MAILS.literals.has(text)),
    [],
    'no longer in the source: remove them',
  )
})

test('an English text has the values of the Portuguese one', () => {
  const valuesOf = (text: string): string => (text.match(/\{\d+\}/g) ?? []).toSorted().join()
  for (const [portuguese, text] of Object.entries(CATALOGUE))
    assert.equal(valuesOf(text), valuesOf(portuguese), portuguese)
})
