/** What the server writes for people has an English text: the catalogue is `src/platform/lib/en.json`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import english from '../src/platform/lib/en.json' with { type: 'json' }
import { describeRoutes } from '../web/contract/describe-routes.ts'
import { readServerTexts } from './harness/server-texts.ts'

const CATALOGUE: Readonly<Record<string, string>> = english
/** The renderer gives each text of a template to `t`, so a literal need not be given. */
const MAILS = readServerTexts('src/deliveries/email/{*-templates,render-mail}.ts')
/** The feed of incidents is in Portuguese: its readers say no language, and one address is one text. */
const PAGES = readServerTexts(
  'src/site/pages/!(status-feed).ts',
  'src/site/{legal,public-bills}/*.ts',
)
/** What is written beside `t` and `html` is given to them where the page is written; `docs-without-database` reads the pages. */
const DOCS = readServerTexts('src/site/docs/*.ts', 'src/site/docs/guides/*.ts')
/** What the API says of itself, which the reference shows. */
const OF_API = new Set(
  JSON.stringify(await describeRoutes())
    .match(/(?<="(?:summary|description)":)"(?:[^"\\]|\\.)*"/g)
    ?.map((text) => JSON.parse(text) as string),
)
const MODELS = readServerTexts('src/money/catalog/built-in-models.ts')
const DESCRIPTIONS = [...MODELS.others.keys()].filter((text) => text.endsWith('.'))
const KEYS_OF_PAGES = [
  ...[PAGES, DOCS].flatMap(({ texts, markup }) => [...texts.keys(), ...markup.keys()]),
  ...DESCRIPTIONS,
]
/** Names, which are the same in every language, and each language named in itself. */
const SAME =
  /^(AI SDK|LangChain|Claude Code|Codex|opencode|Cursor|EN|PT|EN: in English|PT: em português)$|^(open|aria-current="page")$|^<span>\{0\}<\/span> <code>\/v1\{1\}|^\{0\}Catraca$|^\{0\}, CNPJ/
/** For programs. */
const NO_TEXT = /^(no template |GET \/v1|\{"weekly|\{0\}, CNPJ )/

test('every text of a mail has an English one', () => {
  const wanted = [...MAILS.texts.keys(), ...MAILS.others.keys()].filter(
    (text) => /\p{L}/u.test(text) && !NO_TEXT.test(text),
  )
  assert.ok(wanted.length > 200)
  assert.deepEqual(
    wanted.filter((text) => !Object.hasOwn(CATALOGUE, text)),
    [],
    'without English: add them to src/platform/lib/en.json',
  )
})

test('every text of a page for visitors has an English one', () => {
  const wanted = KEYS_OF_PAGES.filter((text) => hasWords(text) && !SAME.test(text))
  assert.ok(wanted.length > 200)
  assert.deepEqual(
    wanted.filter((text) => !Object.hasOwn(CATALOGUE, text)),
    [],
    'without English: add them to src/platform/lib/en.json',
  )
})

/** A text in a file of pages that neither `t` nor `html` gets: in code, in a list of words, for programs. */
const BESIDE =
  /^src\/site\/(pages\/(code-samples|send-page)|public-bills\/(public-bill|shown-bill)-routes)\.ts/
const FOR_PROGRAMS =
  /^(GET|Organization|BreadcrumbList|ListItem|Catraca|America\/Sao_Paulo|US\$ .*|\{0\}( · Catraca| mil?| tokens| ms|=.*)|by \{0\}|(public|private), .*|(User-agent|Disallow|Sitemap): .*|[a-z]+\/[a-z+]+; charset=utf-8|\.state[^]*)$/
const MAKERS = /^(Alibaba|Anthropic|Cohere|DeepSeek|Google|Maritaca|Meta|Mistral|Moonshot|OpenAI)$/

test('no text of a page for visitors bypasses the translation', () => {
  const bypassing = [...PAGES.others].filter(
    ([text, file]) =>
      hasWords(text) &&
      !BESIDE.test(file) &&
      !FOR_PROGRAMS.test(text) &&
      !MAKERS.test(text) &&
      !Object.hasOwn(CATALOGUE, text),
  )
  assert.deepEqual(bypassing, [])
})

test('the catalogue has no text that is no longer in the source', () => {
  const code = [...PAGES.others.keys(), ...DOCS.others.keys()].join('\n')
  assert.deepEqual(
    Object.keys(CATALOGUE).filter(
      (text) =>
        !MAILS.literals.has(text) &&
        !PAGES.literals.has(text) &&
        !PAGES.markup.has(text) &&
        !DOCS.literals.has(text) &&
        !DOCS.markup.has(text) &&
        !OF_API.has(text) &&
        !DESCRIPTIONS.includes(text) &&
        !code.includes(text),
    ),
    [],
  )
})

function hasWords(text: string): boolean {
  return /\p{L}/u.test(text.replaceAll(/\{\d+\}|<[^>]*>/g, ''))
}

test('an English text has the values and the elements of the Portuguese one, and no other markup', () => {
  const valuesOf = (text: string): string =>
    (text.match(/\{\d+\}|<[^>]*>|[<>]/g) ?? []).toSorted().join()
  for (const [portuguese, text] of Object.entries(CATALOGUE))
    if (!OF_API.has(portuguese)) assert.equal(valuesOf(text), valuesOf(portuguese), portuguese)
  // It may be in an attribute.
  for (const key of [...PAGES.markup.keys(), ...DOCS.markup.keys()])
    if (!key.includes('"')) assert.doesNotMatch(CATALOGUE[key] ?? '', /"/, key)
})
