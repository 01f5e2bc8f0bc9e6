import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CSV_HEAD, csvRow } from './csv.ts'

test('the head is the byte-order mark of UTF-8', () => {
  assert.deepEqual([...Buffer.from(CSV_HEAD)], [0xef, 0xbb, 0xbf])
})

test('fields are separated by semicolons and lines end as in spreadsheets', () => {
  assert.equal(csvRow(['a', 'b c', null, undefined, '', 'd']), 'a;b c;;;;d\r\n')
  assert.equal(csvRow([]), '\r\n')
})

test('numbers stay numbers, with all their digits and a decimal comma', () => {
  assert.equal(csvRow([0, -5, 1.5, 12345678901234567890n]), '0;-5;1,5;12345678901234567890\r\n')
  assert.equal(
    csvRow([{ decimal: '0.000000001' }, { decimal: '-12.5' }, { decimal: '7' }]),
    '0,000000001;-12,5;7\r\n',
  )
  assert.equal(csvRow([Number.NaN, Number.POSITIVE_INFINITY]), ';\r\n')
})

test('text that is not a decimal number is not written as one', () => {
  assert.equal(csvRow([{ decimal: '=1+1' }, { decimal: '-1.5.2' }]), `"'=1+1";"'-1.5.2"\r\n`)
})

test('no text is a formula', () => {
  for (const start of [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '\n',
    '\uff1d',
    '\uff0b',
    '\uff0d',
    '\uff20',
    ' =',
    '\n=',
    '\u00a0@',
    '\u0000=',
    '\ufeff=',
  ]) {
    const text = `${start}cmd|' /C calc'!A0`
    assert.equal(csvRow([text]), `"'${text}"\r\n`, JSON.stringify(start))
  }
})

test('text with separators, quotes and line ends stays one field', () => {
  assert.equal(
    csvRow(['a;b', 'a,b', 'diz "oi"', 'a\nb', 'a\r\nb', 'a\tb', ' a', 'a ']),
    '"a;b";"a,b";"diz ""oi""";"a\nb";"a\r\nb";"a\tb";" a";"a "\r\n',
  )
  assert.equal(csvRow(['";=1+1']), '""";=1+1"\r\n')
})

test("a customer's own apostrophe is not mistaken for ours", () => {
  assert.equal(csvRow(["'=1", "d'água"]), `"'=1";"d'água"\r\n`)
})

test('text of any language is left as it is', () => {
  assert.equal(csvRow(['São Paulo', '日本', '🙂', 'a=b', '1-2']), 'São Paulo;日本;🙂;a=b;1-2\r\n')
})
