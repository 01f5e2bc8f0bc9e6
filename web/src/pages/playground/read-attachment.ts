/** Reads the files that a user attaches to a message: images, made smaller where they are large, and texts. */
import type { Attachment } from './conversation.ts'
import { t } from '../../language/t.ts'

export const ATTACHMENTS_MAX = 6
const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
/** Models scale larger images down themselves, and the whole request must fit in the server's limit. */
const IMAGE_SIDE_MAX = 1_568
const IMAGE_BYTES_KEPT = 1_000_000
const IMAGE_BYTES_MAX = 25_000_000
const TEXT_BYTES_MAX = 400_000
const JPEG_QUALITY = 0.85

export async function readAttachment(file: File): Promise<Attachment | { fault: string }> {
  if (IMAGE_TYPES.includes(file.type)) return readImage(file)
  return readText(file)
}

async function readImage(file: File): Promise<Attachment | { fault: string }> {
  const { name } = file
  if (file.size > IMAGE_BYTES_MAX)
    return { fault: t('{name} é grande demais: até 25 MB.', { name }) }
  try {
    const picture = await createImageBitmap(file)
    const side = Math.max(picture.width, picture.height)
    const isSmall = file.size <= IMAGE_BYTES_KEPT && side <= IMAGE_SIDE_MAX
    const bytes = isSmall ? file : await scaled(picture, Math.min(1, IMAGE_SIDE_MAX / side))
    picture.close()
    return { kind: 'image', name, content: await dataUrlOf(bytes) }
  } catch {
    return { fault: t('{name} não abriu: a imagem pode estar corrompida.', { name }) }
  }
}

async function scaled(picture: ImageBitmap, factor: number): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * factor))
  canvas.height = Math.max(1, Math.round(picture.height * factor))
  const context = canvas.getContext('2d')
  if (!context) throw new Error('no canvas')
  // JPEG has no transparency.
  context.fillStyle = '#ffffff'
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(picture, 0, 0, canvas.width, canvas.height)
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob ? resolve(blob) : reject(new Error('no image'))),
      'image/jpeg',
      JPEG_QUALITY,
    ),
  )
}

function dataUrlOf(bytes: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(new Error('unreadable')))
    reader.readAsDataURL(bytes)
  })
}

async function readText(file: File): Promise<Attachment | { fault: string }> {
  const { name } = file
  if (file.size > TEXT_BYTES_MAX)
    return { fault: t('{name} é grande demais: até 400 kB de texto.', { name }) }
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    if (content.includes('\0')) return notText(name)
    if (content.trim() === '') return { fault: t('{name} está vazio.', { name }) }
    return { kind: 'text', name, content }
  } catch {
    return notText(name)
  }
}

function notText(name: string): { fault: string } {
  return {
    fault: t(
      '{name} não dá para anexar: aceitamos PNG, JPEG, WebP, GIF e arquivos de texto (UTF-8).',
      { name },
    ),
  }
}
