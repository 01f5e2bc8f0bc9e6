import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameForStrangers } from './name-for-strangers.ts'

test('a name in a mail to a stranger keeps the letters of names, and no address, number or sentence', () => {
  const names: [string, string | undefined][] = [
    ["Padaria D'Ávila & Irmãos", "Padaria D'Ávila & Irmãos"],
    ['Equipe 7 - Norte', 'Equipe 7 - Norte'],
    ['ganhe em https://evil.example/x', 'ganhe em evil example x'],
    ['www．evil．example', 'evil example'],
    ['ligue 11 98765-4321 já', 'ligue já'],
    ['<b>oi</b>\u202e\n!', 'b oi b'],
    ['ana@evil.example', 'ana evil example'],
    ['vendas '.repeat(20), 'vendas vendas vendas vendas vendas vend…'],
    ['///', undefined],
  ]
  for (const [given, kept] of names) assert.equal(nameForStrangers(given), kept, given)
  assert.equal(nameForStrangers(undefined), undefined)
})
