/**
 * Text for HTML pages: the template escapes every value that is not HTML already, and its own text is in the language that
 * is being written.
 */
import { findEnglish, language } from './language.ts'
import { translateMarkup, type Translated } from './translate-markup.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML, between tags or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] as string)
}

/** Data from elsewhere cannot have this key, so it cannot pass for HTML. */
const TEXT = Symbol('html')

export interface Html {
  readonly [TEXT]: string
}

/** Nothing is written for `undefined` and `false`; the items of a list follow each other. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[]

/** Writes a template, html`<p>${name}</p>`, whose values are for text between tags and for quoted attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const written = values.map(write)
  if (language() === 'pt-BR')
    return { [TEXT]: parts.map((part, index) => part + (written[index] ?? '')).join('') }
  const english = translated(parts)
  const text = english.parts.map((part, index) => {
    const place = english.places[index]
    return part + (place === undefined ? '' : (written[place] ?? ''))
  })
  return { [TEXT]: text.join('') }
}

/** A template is translated once: it is the same object each time it is written. */
const known = new WeakMap<TemplateStringsArray, Translated>()

function translated(parts: TemplateStringsArray): Translated {
  const found = known.get(parts)
  if (found) return found
  const made = translateMarkup(parts, findEnglish)
  known.set(parts, made)
  return made
}

export function htmlText(page: Html): string {
  return page[TEXT]
}

/** Marks text as HTML from a trusted writer, such as the parts of a page that never change. */
export function trustedHtml(text: string): Html {
  return { [TEXT]: text }
}

/** A block of data, which browsers do not run. `id` is for the script that reads it. */
export function dataBlock(type: string, value: unknown, id = ''): Html {
  const json = JSON.stringify(value).replaceAll('<', String.raw`\u003c`)
  return html`<script type="${type}" id="${id}">
    ${trustedHtml(json)}
  </script>`
}

function write(value: HtmlValue): string {
  if (value === undefined || value === false) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return isList(value) ? value.map(write).join('') : value[TEXT]
}

function isList(value: HtmlValue): value is readonly HtmlValue[] {
  return Array.isArray(value)
}
