/** Units other than text tokens, by their API names. */
const UNIT_WORDS: Readonly<Record<string, { one: string; many: string }>> = {
  audio_seconds: { one: 'segundo de áudio', many: 'segundos de áudio' },
  input_audio_tokens: { one: 'token de áudio lido', many: 'tokens de áudio lidos' },
  output_audio_tokens: { one: 'token de áudio escrito', many: 'tokens de áudio escritos' },
  input_image_tokens: { one: 'token de imagem lido', many: 'tokens de imagem lidos' },
  output_image_tokens: { one: 'token de imagem gerado', many: 'tokens de imagem gerados' },
  images: { one: 'imagem', many: 'imagens' },
  web_searches: { one: 'pesquisa na web', many: 'pesquisas na web' },
}

/** `images:hd:1024x1024` -> `imagem (hd, 1024x1024)`. */
export function unitWords(unit: string, count = 1): string {
  const [name = unit, ...kinds] = unit.split(':')
  const words = UNIT_WORDS[name] ?? { one: name, many: name }
  const word = count === 1 ? words.one : words.many
  return kinds.length === 0 ? word : `${word} (${kinds.join(', ')})`
}
