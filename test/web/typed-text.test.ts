import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  maskCardNumber,
  maskExpiry,
  maskPhone,
  maskPostalCode,
  maskTaxId,
} from '../../web/src/format/masks.ts'
import { parseAmount } from '../../web/src/format/parse-amount.ts'

test('masks add the usual Brazilian punctuation, also to incomplete text', () => {
  const cases: readonly (readonly [(text: string) => string, string, string])[] = [
    [maskTaxId, '', ''],
    [maskTaxId, '529', '529'],
    [maskTaxId, '5299', '529.9'],
    [maskTaxId, '52998224725', '529.982.247-25'],
    [maskTaxId, '112223330001', '11.222.333/0001'],
    [maskTaxId, '11222333000181', '11.222.333/0001-81'],
    [maskTaxId, '12abc34501de35', '12.ABC.345/01DE-35'],
    [maskTaxId, '12.ABC.345/01DE-35', '12.ABC.345/01DE-35'],
    [maskPostalCode, '01310100', '01310-100'],
    [maskPostalCode, '013', '013'],
    [maskPhone, '11987654321', '(11) 98765-4321'],
    [maskPhone, '1132654321', '(11) 3265-4321'],
    [maskPhone, '+351 912 345 678', '+351 912 345 678'],
    [maskCardNumber, '4444444444444444', '4444 4444 4444 4444'],
    [maskExpiry, '1230', '12/30'],
  ]
  for (const [mask, typed, written] of cases) {
    assert.equal(mask(typed), written)
    assert.equal(mask(written), written)
  }
})

test('amounts are read in Brazilian notation, and other text is not an amount', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['50', 50],
    ['R$ 50,00', 50],
    ['49,9', 49.9],
    ['1.234,56', 1234.56],
    ['1.000', 1000],
    ['49.90', 49.9],
    ['10,999', undefined],
    ['', undefined],
    ['-5', undefined],
    ['abc', undefined],
    ['1,2,3', undefined],
  ]
  for (const [typed, amount] of cases) assert.equal(parseAmount(typed), amount, typed)
  assert.equal(parseAmount('0,000001', 6), 0.000001)
  assert.equal(parseAmount('0.001', 6), 0.001)
})
