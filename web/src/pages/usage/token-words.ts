import { shortNumber } from '../../format/number.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** Units other than text tokens, by their API names. */
const UNIT_WORDS = perLanguage((): Readonly<Record<string, { one: string; many: string }>> => ({
  audio_seconds: { one: t('segundo de áudio'), many: t('segundos de áudio') },
  input_audio_tokens: { one: t('token de áudio lido'), many: t('tokens de áudio lidos') },
  output_audio_tokens: { one: t('token de áudio escrito'), many: t('tokens de áudio escritos') },
  input_image_tokens: { one: t('token de imagem lido'), many: t('tokens de imagem lidos') },
  output_image_tokens: { one: t('token de imagem gerado'), many: t('tokens de imagem gerados') },
  characters: { one: t('caractere falado'), many: t('caracteres falados') },
  search_units: { one: t('pesquisa em documentos'), many: t('pesquisas em documentos') },
  video_seconds: { one: t('segundo de vídeo'), many: t('segundos de vídeo') },
  images: { one: t('imagem'), many: t('imagens') },
  web_searches: { one: t('pesquisa na web'), many: t('pesquisas na web') },
  cache_write_1h_tokens: {
    one: t('token gravado no cache por 1 h'),
    many: t('tokens gravados no cache por 1 h'),
  },
}))

/** `images:hd:1024x1024` -> `imagem (hd, 1024x1024)`; a number alone is the size of the prompt above which it applies. */
export function unitWords(unit: string, count = 1): string {
  const [name = unit, ...kinds] = unit.split(':')
  const words = UNIT_WORDS()[name] ?? { one: name, many: name }
  const word = count === 1 ? words.one : words.many
  const texts = kinds.map((kind) =>
    /^\d+$/.test(kind)
      ? t('acima de {count} de entrada', { count: shortNumber(Number(kind)) })
      : kind,
  )
  return texts.length === 0 ? word : `${word} (${texts.join(', ')})`
}
