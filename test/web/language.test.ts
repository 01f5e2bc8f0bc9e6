/** The two languages of the dashboard: every text of the source has an English one, and none bypasses the translation. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { brl } from '../../web/src/format/brl.ts'
import { calendarDay } from '../../web/src/format/calendar-day.ts'
import { dateTime } from '../../web/src/format/date.ts'
import { exactDecimal } from '../../web/src/format/exact-decimal.ts'
import { wholeNumber } from '../../web/src/format/number.ts'
import { parseAmount } from '../../web/src/format/parse-amount.ts'
import { typedAmount } from '../../web/src/format/typed-amount.ts'
import { usd } from '../../web/src/format/usd.ts'
import { knownLanguage, loadCatalogue } from '../../web/src/language/language.ts'
import { perLanguage } from '../../web/src/language/per-language.ts'
import { t } from '../../web/src/language/t.ts'
import { readDashboardTexts } from '../../web/language-texts.ts'

const english = JSON.parse(
  readFileSync(new URL('../../web/src/language/en.json', import.meta.url), 'utf8'),
) as Record<string, string>
const { texts, unwrapped, unreadable } = readDashboardTexts()

after(() => loadCatalogue('pt-BR', {}))

test('every text of the dashboard has an English one, and the catalogue has no other', () => {
  const wanted = new Set(texts.map(({ text }) => text))
  assert.ok(wanted.size > 2_000)
  assert.deepEqual(
    [...wanted].filter((text) => !english[text]),
    [],
    'without English: add them to web/src/language/en.json',
  )
  assert.deepEqual(
    Object.keys(english).filter((text) => !wanted.has(text)),
    [],
    'no longer in the source: remove them',
  )
})

test('an English text has the values and the outer spaces of the Portuguese one', () => {
  const shapeOf = (text: string, hasValues: boolean): string =>
    JSON.stringify([
      hasValues ? [...text.matchAll(/\{\w+\}/g)].map(String).toSorted() : [],
      /^\s/.test(text),
      /\s$/.test(text),
    ])
  for (const { text, hasValues, place } of texts)
    assert.equal(shapeOf(english[text] ?? '', hasValues), shapeOf(text, hasValues), place)
})

test('no text for people bypasses the translation, and each can be read from the source', () => {
  assert.deepEqual(unwrapped, [])
  assert.deepEqual(unreadable, [])
})

test('money, numbers and dates are those of the language', () => {
  const written = () => [
    brl(-1234.5),
    usd(0.000123),
    wholeNumber(1_234_567),
    calendarDay('2026-11-20'),
    dateTime('2026-11-21T17:05:00Z').replaceAll('\u202f', ' '),
    exactDecimal(1_234_567_800n, 6, 2),
    typedAmount(49.9),
  ]
  assert.deepEqual(written(), [
    '-R$\u00a01.234,50',
    'US$\u00a00,000123',
    '1.234.567',
    '20/11/2026',
    '21/11/2026 14:05',
    '1.234,5678',
    '49,9',
  ])
  loadCatalogue('en-US', english)
  assert.deepEqual(written(), [
    '-R$\u00a01,234.50',
    'US$\u00a00.000123',
    '1,234,567',
    'Nov 20, 2026',
    'Nov 21, 2026, 2:05 PM',
    '1,234.5678',
    '49.9',
  ])
})

test('an amount is read as the language writes it', () => {
  loadCatalogue('en-US', english)
  for (const [text, amount] of [
    ['1,234.56', 1234.56],
    ['R$ 50', 50],
    ['49.9', 49.9],
    ['49,90', 49.9],
    ['1.234', undefined],
    ['1.234,56', undefined],
  ] as const)
    assert.equal(parseAmount(text), amount, text)
})

test('a constant with texts follows the language', () => {
  loadCatalogue('pt-BR', {})
  const words = perLanguage(() => ({ active: t('Ativa') }))
  assert.equal(words().active, 'Ativa')
  assert.equal(words(), words())
  loadCatalogue('en-US', english)
  assert.equal(words().active, 'Active')
  assert.equal(t('Últimos {window} dias', { window: 7 }), 'Last 7 days')
})

test('the first language that the dashboard has is taken', () => {
  assert.equal(knownLanguage(['fr-FR', 'en-GB', 'pt-BR']), 'en-US')
  assert.equal(knownLanguage(['pt-PT', 'en']), 'pt-BR')
  assert.equal(knownLanguage(['es-ES', 'ptolemaic']), undefined)
})
