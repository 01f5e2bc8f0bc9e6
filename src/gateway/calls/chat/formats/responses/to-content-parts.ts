/** Translates the content of a Responses item to that of a chat message. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { imageKindOf } from '../../media-of-part.ts'
import { IMAGE_RULE } from '../../read-messages.ts'
import { InvalidField } from '../invalid-field.ts'

/** A text, or a list of parts. Throws `InvalidField`. */
export function toContentParts(content: unknown, place: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content) || !content.every(isObject))
    throw new InvalidField(`${place} deve ser um texto ou uma lista de partes.`)
  return content.map((part, index) => toPart(part, `${place}[${index}]`))
}

/** One text as a string, which more upstreams take than a list with one part. */
export function toContent(parts: JsonObject[]): string | JsonObject[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text') return first.text as string
  return parts
}

function toPart(part: JsonObject, place: string): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: textOf(part.text, `${place}.text`) }
    case 'refusal':
      return { type: 'refusal', refusal: textOf(part.refusal, `${place}.refusal`) }
    case 'input_image':
      return toImage(part, place)
    case 'input_file':
      return toFile(part, place)
    default:
      throw new InvalidField(
        `${place}: partes deste tipo não são aceitas aqui; use input_text, input_image ou input_file.`,
      )
  }
}

function toImage({ image_url: url, detail }: JsonObject, place: string): JsonObject {
  const address = isObject(url) ? url.url : url
  if (typeof address !== 'string')
    throw new InvalidField(
      `${place}.image_url é obrigatório: envie a imagem em base64 ou o endereço dela; "file_id" não está disponível.`,
    )
  if (imageKindOf(address) === undefined) throw new InvalidField(`${place}.image_url ${IMAGE_RULE}`)
  return { type: 'image_url', image_url: { url: address, detail } }
}

function toFile({ file_data: data, filename }: JsonObject, place: string): JsonObject {
  if (typeof data !== 'string')
    throw new InvalidField(
      `${place}.file_data é obrigatório: envie o documento em base64; "file_id" e "file_url" não estão disponíveis.`,
    )
  const file = {
    filename: typeof filename === 'string' ? filename : 'document.pdf',
    file_data: data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`,
  }
  return { type: 'file', file }
}

function textOf(text: unknown, place: string): string {
  if (typeof text === 'string') return text
  throw new InvalidField(`${place} deve ser um texto.`)
}
