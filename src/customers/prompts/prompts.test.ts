import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter } from '../../../test/harness/fast-check.ts'
import { copySlugOf, slugOf } from './prompts.ts'

test('a slug is the name in lower case without accents, its words joined by hyphens', () => {
  assert.equal(slugOf('Resumo de Reunião'), 'resumo-de-reuniao')
  assert.equal(slugOf('  Ação & Reação: 2ª edição!  '), 'acao-reacao-2a-edicao')
  assert.equal(slugOf('日本語'), 'prompt')
  assert.equal(slugOf('---'), 'prompt')
})

test('a slug of any name, and of repeated copies, stays short and readable', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 240 }), (name) => {
      let slug = slugOf(name)
      for (let generation = 0; generation < 12; generation++) {
        assert.match(slug, /^[a-z0-9]+(-[a-z0-9]+)*$/)
        assert.ok(slug.length <= 100)
        slug = copySlugOf(slug)
        assert.ok(slug.endsWith('-copia'))
      }
    }),
  )
})
