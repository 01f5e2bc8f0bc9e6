import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import {
  CNPJ_WEIGHTS,
  CPF_WEIGHTS,
  withCheckDigits,
} from '../../../test/harness/tax-id-check-digits.ts'
import { readTaxId } from './tax-id.ts'

const CPF_VALID = ['24971563792', '52998224725', '11144477735', '29537995593', '12345678909']
const CNPJ_VALID = ['11222333000181', '47960950000121', '00000000000191', '54550752000155']
/** The first and the last two come from the tax authority's own questions and answers. */
const CNPJ_WITH_LETTERS = ['12ABC34501DE35', 'AA345678000114', 'AA345678000A29', '12345678000A08']

for (const taxId of CPF_VALID)
  test(`${taxId} is a CPF`, () => assert.deepEqual(readTaxId(taxId), { kind: 'cpf', taxId }))

for (const taxId of [...CNPJ_VALID, ...CNPJ_WITH_LETTERS])
  test(`${taxId} is a CNPJ`, () => assert.deepEqual(readTaxId(taxId), { kind: 'cnpj', taxId }))

test('punctuation, spaces and lower case are accepted', () => {
  assert.deepEqual(readTaxId(' 249.715.637-92 '), { kind: 'cpf', taxId: '24971563792' })
  assert.deepEqual(readTaxId('11.222.333/0001-81'), { kind: 'cnpj', taxId: '11222333000181' })
  assert.deepEqual(readTaxId('12.abc.345/01de-35'), { kind: 'cnpj', taxId: '12ABC34501DE35' })
})

test('wrong check digits and repeated digits are distinguished from a wrong format', () => {
  const repeated = Array.from({ length: 10 }, (_, digit) => [
    String(digit).repeat(11),
    String(digit).repeat(14),
  ]).flat()
  for (const taxId of [
    ...repeated,
    '24971563793',
    '24971563782',
    '12ABC34501DE00',
    '12ABC34501DF35',
  ])
    assert.deepEqual(readTaxId(taxId), { kind: 'invalid_cpf_cnpj_checksum' }, taxId)
  for (const text of [
    '',
    '2497156379',
    '249715637920',
    '1122233300018',
    '112223330001811',
    '24971563A92',
    '12ABC34501DEX5',
    '12ÁBC34501DE35',
    '١٢٣٤٥٦٧٨٩٠١',
    '11222333000181\u0000',
    '11_222_333_0001_81',
  ])
    assert.deepEqual(readTaxId(text), { kind: 'invalid_cpf_cnpj_format' }, text)
})

const textOf = (characters: string, length: number) =>
  fc
    .array(fc.constantFrom(...characters.split('')), { minLength: length, maxLength: length })
    .map((list) => list.join(''))
    .filter((text) => !/^(.)\1+$/.test(text))
const DIGITS = '0123456789'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

test('every id with correct check digits is accepted, and with one digit changed it is not', () => {
  const made = fc.oneof(
    textOf(DIGITS, 9).map((rest) => ['cpf', withCheckDigits(rest, CPF_WEIGHTS)] as const),
    textOf(DIGITS + LETTERS, 12).map(
      (rest) => ['cnpj', withCheckDigits(rest, CNPJ_WEIGHTS)] as const,
    ),
  )
  fc.assert(
    fc.property(
      made,
      fc.integer({ min: 1, max: 9 }),
      fc.boolean(),
      ([kind, taxId], more, isLast) => {
        assert.deepEqual(readTaxId(taxId), { kind, taxId })
        const index = taxId.length - (isLast ? 1 : 2)
        const other = (Number(taxId[index]) + more) % 10
        const changed = taxId.slice(0, index) + other + taxId.slice(index + 1)
        assert.deepEqual(readTaxId(changed), { kind: 'invalid_cpf_cnpj_checksum' })
      },
    ),
  )
})
