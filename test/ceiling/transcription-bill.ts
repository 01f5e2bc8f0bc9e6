/** How a transcription form is read and billed. */
import { OPENAI_TRANSCRIPTIONS } from './allow-lists.ts'
import { costOf, counts, type Bill } from './bill.ts'
import { truthOf, type ModelTruth } from './model-truth.ts'
import { audioSecondsOf } from './sound.ts'

/** By the samples of the received file, or of the file at an address for providers that accept one. */
export function billTranscription(contentType: string, raw: Buffer): Bill {
  const boundary = /boundary=(\S+)$/.exec(contentType)?.[1]
  const texts: [name: string, value: string][] = []
  let file = Buffer.alloc(0)
  const delimiter = Buffer.from(`--${boundary}`)
  for (let at = raw.indexOf(delimiter); at !== -1;) {
    const next = raw.indexOf(delimiter, at + delimiter.length)
    if (next === -1) break
    const part = raw.subarray(at + delimiter.length + 2, next - 2)
    const split = part.indexOf('\r\n\r\n')
    const head = part.toString('latin1', 0, split)
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? ''
    const value = part.subarray(split + 4)
    if (/filename/.test(head)) file = Buffer.from(value)
    else texts.push([name, value.toString()])
    at = next
  }
  const fields = new Map(texts)
  const model = truthOf(fields.get('model') ?? '') as ModelTruth
  const { secondsMax = 0, tokensPerSecond = 0 } = model.audio ?? {}
  const isElsewhere = ['url', 'file_url', 'file_id'].some((name) => fields.has(name))
  const seconds = isElsewhere
    ? secondsMax
    : Math.min(Math.ceil(audioSecondsOf(file, secondsMax)), secondsMax)
  // The model may read every text of the form before the audio.
  const read = texts.filter(([name]) => !['model', 'response_format', 'temperature'].includes(name))
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
  const unknown = texts.map(([name]) => name).filter((name) => !OPENAI_TRANSCRIPTIONS.has(name))
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}
