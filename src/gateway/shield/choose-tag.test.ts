import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseTag } from './placeholders.ts'

const LETTERS = 'QZKWX'

/** Every beginning of every run of letters is used: no tag may be one of them, and an earlier tag would be. */
test('the tag is the first one that begins no letters after a name and number of the texts', () => {
  assert.equal(chooseTag([]), 'QZ')
  assert.equal(chooseTag(['CPF1', 'QZ', 'CPF QZ']), 'QZ')
  assert.equal(chooseTag(['cpf1qz']), 'ZZ')
  assert.equal(chooseTag(['CPF1QZ PIX2V3ZZ EMAIL3KZWX']), 'WZ')
  const pairs = Array.from(LETTERS, (one) => Array.from(LETTERS, (other) => `CPF1${one}${other}`))
  assert.equal(chooseTag(pairs.flat()), 'QZK')
  assert.equal(chooseTag([...pairs.flat(), 'TELEFONE1QZKQZKWXQZKWXQZKWX']), 'ZZK')
})

test('the tag begins none of a hundred thousand different runs of letters', () => {
  const texts = Array.from({ length: 120_000 }, (_, number) => {
    let letters = ''
    for (let rest = number; letters.length < 12; rest = Math.floor(rest / LETTERS.length))
      letters += LETTERS[rest % LETTERS.length]
    return `PIX1${letters}`
  })
  const tag = chooseTag([texts.join(' ')])
  assert.ok(!texts.some((text) => text.startsWith(`PIX1${tag}`)))
})
