/** How the forms of transcriptions, translations and edits of images are read and billed. */
import { unknownFields } from './allow-lists.ts'
import { costOf, counts, type Bill } from './bill.ts'
import { truthOf, type ModelTruth } from './model-truth.ts'
import { audioSecondsOf } from './sound.ts'

export interface Form {
  readonly texts: readonly (readonly [name: string, value: string])[]
  readonly files: readonly (readonly [name: string, bytes: Buffer])[]
}

export function parseForm(contentType: string, raw: Buffer): Form {
  const boundary = /boundary=(\S+)$/.exec(contentType)?.[1]
  const texts: [name: string, value: string][] = []
  const files: [name: string, bytes: Buffer][] = []
  const delimiter = Buffer.from(`--${boundary}`)
  for (let at = raw.indexOf(delimiter); at !== -1;) {
    const next = raw.indexOf(delimiter, at + delimiter.length)
    if (next === -1) break
    const part = raw.subarray(at + delimiter.length + 2, next - 2)
    const split = part.indexOf('\r\n\r\n')
    const head = part.toString('latin1', 0, split)
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? ''
    const value = part.subarray(split + 4)
    if (/filename/.test(head)) files.push([name, Buffer.from(value)])
    else texts.push([name, value.toString()])
    at = next
  }
  return { texts, files }
}

/** By the samples of the received file, or of the file at an address for providers that accept one. */
export function billTranscription(form: Form, task: 'transcriptions' | 'translations'): Bill {
  const { texts, files } = form
  const fields = new Map(texts)
  const model = modelOf(form)
  const { secondsMax = 0, tokensPerSecond = 0 } = model.audio ?? {}
  const isElsewhere = ['url', 'file_url', 'file_id'].some((name) => fields.has(name))
  const seconds = isElsewhere
    ? secondsMax
    : Math.min(Math.ceil(audioSecondsOf(files[0]?.[1] ?? Buffer.alloc(0), secondsMax)), secondsMax)
  // The model may read every text of the form before the audio.
  const read = texts.filter(
    ([name]) => !['model', 'response_format', 'temperature', 'stream'].includes(name),
  )
  const textBytes = read.reduce((sum, [, value]) => sum + Buffer.byteLength(value), 0)
  const references = read.filter(([name]) => name.startsWith('known_speaker_references')).length
  const audioTokens = Math.ceil((seconds + references * 10) * tokensPerSecond)
  const isByToken = model.audioHour === undefined
  const of = isByToken
    ? counts({
        promptTokens: audioTokens + textBytes + 20,
        audioTokens,
        completionTokens: model.ownOutputMax,
        audioSeconds: 0,
      })
    : counts({ audioSeconds: seconds })
  return { ...of, model, costPicoUsd: costOf(model, of), unknown: unknownIn(form, task) }
}

/** Each picture and the mask are read as the largest that the model knows, again for each picture that it makes. */
export function billEdit(form: Form): Bill {
  const fields = new Map(form.texts)
  const model = modelOf(form)
  const count = Number(fields.get('n') ?? 1)
  const imageInputTokens = form.files.length * model.imageTokens * count
  const prompt = Math.min(Buffer.byteLength(fields.get('prompt') ?? '') + 20, model.context)
  const one = model.imageTokensByQuality?.[fields.get('quality') ?? '']
  const completionTokens = count * (one ?? model.ownOutputMax)
  const of = counts({
    promptTokens: prompt * count + imageInputTokens,
    imageInputTokens,
    completionTokens,
    imageOutputTokens: completionTokens,
  })
  return { ...of, model, costPicoUsd: costOf(model, of), unknown: unknownIn(form, 'edits') }
}

function modelOf({ texts }: Form): ModelTruth {
  return truthOf(new Map(texts).get('model') ?? '') as ModelTruth
}

function unknownIn({ texts, files }: Form, list: string): string[] {
  return unknownFields(`openai ${list}`, Object.fromEntries([...texts, ...files]))
}
