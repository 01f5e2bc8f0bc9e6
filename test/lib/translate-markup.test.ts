/** The text of each block of a template is one key, whatever the values, and nothing but the text changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html, htmlText, type Html } from '../../src/platform/lib/html.ts'
import { inLanguage, t } from '../../src/platform/lib/language.ts'
import { translateMarkup } from '../../src/platform/lib/translate-markup.ts'
import fastCheck from '../harness/fast-check.ts'

function keysOf(parts: TemplateStringsArray, ...values: unknown[]): string[] {
  const keys: string[] = []
  translateMarkup(parts, (key) => void keys.push(key))
  assert.ok(values.length === parts.length - 1)
  return keys
}

test('a sentence is one key with its links and values; elements beside each other are keys of their own', () => {
  const value = ''
  assert.deepEqual(
    keysOf`<section class="x" aria-label="Lista: ${value}">
      <p>Veja o
        <a href="/${value}">status</a> de ${value}.</p>
      <nav><a class="a" href="/x">Um</a><a href="/y"
        >Dois</a>${value}</nav>
      <pre>código ${value}</pre>${value}
    </section>`,
    ['Lista: {0}', 'Veja o <a>status</a> de {0}.', 'Um', 'Dois'],
  )
})

test('values and links go where the English sentence has them', () => {
  const parts = ['<p class="c">Veja ', ' em <a href="', '">', '</a> e <b>já</b>. </p>']
  const { parts: written, places } = translateMarkup(parts, (key) => {
    assert.equal(key, 'Veja {0} em <a>{1}</a> e <b>já</b>.')
    return '<b>Now</b>, at <a>{1}</a>, see {0}.'
  })
  assert.deepEqual(written, ['<p class="c"><b>Now</b>, at <a href="', '">', '</a>, see ', '. </p>'])
  assert.deepEqual(places, [1, 2, 0])
})

test('without English a template stays as it is, whatever it has', () => {
  const part = fastCheck.constantFrom(
    '<p>',
    '</p>',
    ' a',
    'é ',
    '<a href="/">',
    '</a>',
    '\n',
    '<br />',
  )
  const parts = fastCheck.array(
    fastCheck.array(part).map((all) => all.join('')),
    { minLength: 1 },
  )
  fastCheck.assert(
    fastCheck.property(parts, (template) => {
      const { parts: written, places } = translateMarkup(template, () => undefined)
      assert.deepEqual(written, template)
      assert.deepEqual(
        places,
        template.slice(1).map((_, place) => place),
      )
    }),
  )
})

test("a customer's words are escaped and never translated, also where they are a text of the catalogue", () => {
  const page = (name: string): Html => html`<p title="Entrada">${name}</p>`
  assert.equal(
    inLanguage('en-US', () => htmlText(page('Fabricante <b>'))),
    '<p title="Input">Fabricante &lt;b&gt;</p>',
  )
  assert.equal(
    inLanguage('en-US', () => t`Fora do ar: ${'{0} Saldo'}`),
    'Out of service: {0} Saldo',
  )
})

test('a language ends with what is written in it, also by a failure', () => {
  assert.throws(() =>
    inLanguage('en-US', () => {
      throw new Error('a fault')
    }),
  )
  assert.equal(t('Saldo'), 'Saldo')
  assert.equal(
    inLanguage('en-US', () => t('Saldo')),
    'Balance',
  )
})
