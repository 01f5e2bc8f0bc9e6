/** The fields of a JSON schema as a list, nested ones behind a click. */
import { html, type Html } from '../../platform/lib/html.ts'
import { t } from '../../platform/lib/language.ts'
import type { Schema } from './api-document.ts'

/** Deeper fields are of formats that client libraries know. */
const DEPTH_MAX = 4

export function fieldList(schema: Schema, depth = 0): Html | false {
  const { properties = {}, required = [] } = schema
  const fields = Object.entries(properties)
  if (fields.length === 0 || depth > DEPTH_MAX) return false
  return html`<dl class="fields-of">
    ${fields.map(([name, field]) => fieldItem(name, field, required.includes(name), depth))}
  </dl>`
}

export function fieldItem(name: string, field: Schema, isRequired: boolean, depth = 0): Html {
  const inner = innerObject(field)
  const nested = inner && fieldList(inner, depth + 1)
  return html`<div>
    <dt>
      <code>${name}</code> <span class="muted">${factsOf(field)}</span>
      ${isRequired && html`<span class="need">obrigatório</span>`}
    </dt>
    <dd>
      ${withCode(t(descriptionOf(field)))}
      ${
        nested &&
        html`<details>
          <summary>Campos de ${name}</summary>
          ${nested}
        </details>`
      }
    </dd>
  </div>`
}

function descriptionOf({ description, anyOf, items }: Schema): string {
  const own = description ?? items?.description ?? ''
  return own || (anyOf?.map((each) => each.description ?? '').find(Boolean) ?? '')
}

/** Descriptions mark names by backticks. */
function withCode(text: string): readonly Html[] {
  return text
    .split('`')
    .map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`))
}

function factsOf(field: Schema): string {
  const bounded = field.anyOf?.find(({ type }) => type !== 'null') ?? field
  const { minimum, exclusiveMinimum, maximum, maxLength, maxItems } = bounded
  return [
    typeOf(field),
    minimum !== undefined && t`a partir de ${minimum}`,
    exclusiveMinimum !== undefined && t`acima de ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && t`até ${maximum}`,
    maxLength !== undefined && t`até ${maxLength} caracteres`,
    maxItems !== undefined && t`até ${maxItems} itens`,
    field.default !== undefined && t`padrão ${JSON.stringify(field.default)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'texto',
  integer: 'inteiro',
  number: 'número',
  boolean: 'verdadeiro ou falso',
  object: 'objeto',
  array: 'lista',
  null: 'null',
  uuid: 'UUID',
  date: 'data (AAAA-MM-DD)',
  'date-time': 'data e hora (ISO 8601)',
}

function typeOf({ type, anyOf, enum: values, const: only, items, format }: Schema): string {
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (only !== undefined) return JSON.stringify(only)
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(t(' ou '))
  if (items) return t`lista de ${typeOf(items)}`
  if (format !== undefined) return t(TYPES[format] ?? format)
  return [type ?? '']
    .flat()
    .map((each) => t(TYPES[each] ?? each))
    .join(t(' ou '))
}

/** The object whose fields a value has: itself, the items of a list, or the one that is not null. */
function innerObject(schema: Schema): Schema | undefined {
  if (schema.properties) return schema
  if (schema.items) return innerObject(schema.items)
  return schema.anyOf?.map(innerObject).find((found) => found !== undefined)
}
