/** The texts of the sandbox. The greeting is the first answer that a new customer sees. */
import { lastResults, type ChatMessage } from './read-messages.ts'
import type { Exchange } from './open-exchange.ts'

/** Mostly primes of very different size, so that the cuts fall everywhere in lines of any length. */
const SIZES = [23, 1, 61, 7, 37, 2, 113, 3]

/**
 * Writes the bytes in parts that end where a careless reader fails: within each multi-byte character, between the CR and
 * the LF of each line end, and at odd positions in lines.
 */
export async function writeSplit(exchange: Exchange, bytes: Buffer): Promise<void> {
  for (const part of splitOddly(bytes)) {
    if (!exchange.isOpen) return
    await exchange.write(part)
    // Waits a turn of the event loop, or Node.js would join the parts again.
    await new Promise((resolve) => setImmediate(resolve))
  }
  exchange.outcome = 'completed'
  exchange.response.end()
}

function* splitOddly(bytes: Buffer): Generator<Buffer> {
  let start = 0
  let turn = 0
  while (start < bytes.length) {
    const endMax = Math.min(start + (SIZES[turn++ % SIZES.length] as number), bytes.length)
    let end = start + 1
    while (end < endMax && !isInsideSomething(bytes, end)) end += 1
    yield bytes.subarray(start, end)
    start = end
  }
}

function isInsideSomething(bytes: Buffer, index: number): boolean {
  const byte = bytes[index] as number
  const isContinuation = (byte & 0b1100_0000) === 0b1000_0000
  const isInsideLineEnd = byte === 10 && bytes[index - 1] === 13
  return isContinuation || isInsideLineEnd
}

const QUOTE_CHARACTERS_MAX = 80
const RESULT_CHARACTERS_MAX = 200

export function writeGreeting(messages: readonly ChatMessage[]): string {
  const advice =
    'Esta resposta é de teste e não custa dinheiro de verdade: os modelos de verdade respondem no modo live.'
  return `Olá! Aqui é a sandbox da Catraca, e a sua chamada chegou direitinho. ${echo(messages)} ${advice}${writeExample(messages)}`
}

/** Agents' prompts have every word. */
const ASKED_CHARACTERS_MAX = 500

/** Markdown as a model would write it, for a short message that asks for something to be explained, compared, computed or programmed. */
const EXAMPLES: readonly (readonly [RegExp, string])[] = [
  [
    /(^|\P{L})(expli(que|car|ca)|explain|passos|steps|markdown)(\P{L}|$)/iu,
    `## Como um modelo responderia

Um **token** é um pedaço de texto: uma palavra curta, ou parte de uma longa.

1. O texto é cortado em tokens.
2. O modelo escreve a resposta *token por token*.
3. Você paga os tokens de entrada e os de saída.`,
  ],
  [
    /(^|\P{L})(tabela|table|compare|comparar|markdown)(\P{L}|$)/iu,
    `| O que | Tokens | Quem conta |
| --- | ---: | --- |
| A sua mensagem | entrada | o modelo |
| Esta resposta | saída | o modelo |
| O que veio do cache | entrada, mais barata | o modelo |`,
  ],
  [
    /(^|\P{L})(f[oó]rmulas?|equa[cç][aã]o|matem[aá]tica|formula|equation|maths?|markdown)(\P{L}|$)/iu,
    String.raw`Com \(n_i\) tokens de cada tipo, a \(p_i\) por milhão, uma chamada custa

$$
\text{custo} = \sum_{i} \frac{n_i \times p_i}{10^6}
$$`,
  ],
  [
    /(^|\P{L})(c[oó]digo|code|fun[cç][aã]o|function|python|javascript|markdown)(\P{L}|$)/iu,
    `\`\`\`python
def cpf_valido(cpf: str) -> bool:
    """Confere os dois dígitos verificadores."""
    digitos = [int(letra) for letra in cpf if letra.isdigit()]
    if len(digitos) != 11 or len(set(digitos)) == 1:
        return False
    for fim in (9, 10):
        soma = sum(d * (fim + 1 - i) for i, d in enumerate(digitos[:fim]))
        if digitos[fim] != soma * 10 % 11 % 10:
            return False
    return True


print(cpf_valido("529.982.247-25"))  # True
print(cpf_valido("111.111.111-11"))  # False
\`\`\``,
  ],
]

function writeExample(messages: readonly ChatMessage[]): string {
  const asked = lastUserText(messages)
  if (asked.length > ASKED_CHARACTERS_MAX) return ''
  return EXAMPLES.filter(([words]) => words.test(asked))
    .map(([, example]) => `\n\n${example}`)
    .join('')
}

export function writeReasoning(messages: readonly ChatMessage[]): string {
  return `Preciso responder com simpatia e em poucas palavras. ${echo(messages)} Sou a sandbox, então vou dizer isso com clareza.`
}

/** Returns the answer to the tool results at the end of the conversation. */
export function writeToolReport(messages: readonly ChatMessage[]): string {
  const calls = messages.flatMap((message) => message.toolCalls)
  const reports = lastResults(messages).map((result) => {
    const name = calls.findLast((call) => call.id === result.toolCallId)?.name
    const tool = name === undefined ? 'A ferramenta' : `A ferramenta ${name}`
    return `${tool} devolveu: “${shorten(result.text, RESULT_CHARACTERS_MAX)}”.`
  })
  return `${reports.join(' ')} Aqui é a sandbox da Catraca: um modelo de verdade usaria isso para responder.`
}

export function writeJsonObject(messages: readonly ChatMessage[]): string {
  return JSON.stringify({
    origem: 'sandbox da Catraca',
    mensagem: 'Sua chamada chegou direitinho.',
    voce_disse: quoteLastUser(messages),
  })
}

/** A text of characters of two, three and four bytes and joined ones, so that tokens end within characters. */
export const HARD_CHARACTERS = ' Coração, ação, 日本語, 👩‍👩‍👧 e 🎟️.'

/** A story of which two repetitions have exactly twice the tokens of one, because no token spans the boundary. */
export const STORY = `${[
  'Era uma vez uma catraca que contava histórias a quem passava por ela.',
  'A cada volta ela dava um passo da história, e ninguém passava sem ouvir um pedaço.',
  'De manhã cedo vinham os padeiros, com cheiro de pão quente e muita pressa.',
  'Ao meio-dia vinham as crianças, que perguntavam sempre o que acontecia depois.',
  'À noite, quando a estação ficava vazia, a catraca ensaiava baixinho o capítulo seguinte.',
].join(' ')}\n`

export function lastUserText(messages: readonly ChatMessage[]): string {
  return messages.findLast((message) => message.role === 'user')?.text ?? ''
}

function echo(messages: readonly ChatMessage[]): string {
  const quote = quoteLastUser(messages)
  const attachments = messages.findLast((message) => message.role === 'user')?.attachmentCount ?? 0
  // A quote that ends with a full stop needs no second one.
  const stop = /[.!?…]$/.test(quote) ? '' : '.'
  const said = quote === '' ? '' : `Você disse: “${quote}”${stop}`
  if (attachments === 0) return said || 'Não encontrei uma mensagem sua, mas estou ouvindo.'
  const sent = attachments === 1 ? 'Recebi também o seu anexo.' : `Recebi ${attachments} anexos.`
  return said === '' ? sent.replace('também ', '') : `${said} ${sent}`
}

function quoteLastUser(messages: readonly ChatMessage[]): string {
  return shorten(lastUserText(messages), QUOTE_CHARACTERS_MAX)
}

/** Shortens to one line, and cuts between grapheme clusters. */
function shorten(text: string, charactersMax: number): string {
  // Only the beginning is processed, because a prompt may have megabytes.
  const line = text
    .slice(0, charactersMax * 20)
    .trim()
    .replace(/\s+/g, ' ')
  if (line.length <= charactersMax) return line
  const characters = Array.from(graphemes.segment(line), (part) => part.segment)
  if (characters.length <= charactersMax) return line
  return `${characters.slice(0, charactersMax).join('').trimEnd()}…`
}

const graphemes = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' })
