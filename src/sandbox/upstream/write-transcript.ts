/** The transcript of the sandbox, which depends only on the length of the audio. */
export interface Transcript {
  readonly text: string
  readonly segments: readonly TimedText[]
}

/** Times are seconds from the beginning. */
export interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
}

const SECONDS_PER_SENTENCE = 5
const SENTENCES_MAX = 200

const SENTENCES = [
  'Bom dia, aqui é a catraca da estação, e a gravação começou.',
  'O primeiro trem chega às seis, e a plataforma já tem gente esperando.',
  'Uma senhora pergunta onde fica a saída para o mercado.',
  'O café da esquina abre daqui a pouco, com pão de queijo quentinho.',
  'Alguém deixou um guarda-chuva azul perto do banco.',
  'Se a chuva parar, a feira vai até a hora do almoço.',
  'As crianças da escola passam cantando e acenam para o maquinista.',
  'O próximo trem está atrasado em quatro minutos.',
  'Quem perdeu um cartão pode buscá-lo na bilheteria.',
  'E assim a manhã segue, com uma volta da catraca de cada vez.',
] as const

/** One sentence per five seconds, up to 200 sentences, which then last longer. An empty audio has none. */
export function writeTranscript(seconds: number): Transcript {
  const count = Math.min(Math.ceil(seconds / SECONDS_PER_SENTENCE), SENTENCES_MAX)
  const secondsEach = Math.max(SECONDS_PER_SENTENCE, seconds / count)
  const segments = Array.from({ length: count }, (_, index) => ({
    start: roundToMs(index * secondsEach),
    end: index === count - 1 ? seconds : roundToMs((index + 1) * secondsEach),
    text: SENTENCES[index % SENTENCES.length] as string,
  }))
  return { text: segments.map(({ text }) => text).join(' '), segments }
}

/** The words of a segment without punctuation; they share its time equally. */
export function listWords({ start, end, text }: TimedText): TimedText[] {
  const words = text.match(/[\p{L}\p{N}-]+/gu) ?? []
  const secondsEach = (end - start) / words.length
  return words.map((word, index) => ({
    start: roundToMs(start + index * secondsEach),
    end: index === words.length - 1 ? end : roundToMs(start + (index + 1) * secondsEach),
    text: word,
  }))
}

function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
