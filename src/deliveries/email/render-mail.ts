/**
 * Renders a mail as text and as HTML. The HTML has no tables, scripts, images or external resources, and
 * nothing that tracks reading. Every value is escaped in one place, `escapeHtml`.
 */
import { escapeHtml } from '../../platform/lib/html.ts'
import { ACCOUNT_TEMPLATES } from './account-templates.ts'
import { inLanguage, language, t, type Language } from '../../platform/lib/language.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'
import { formatBrl, formatCount, formatDay, formatTime } from './formats.ts'
import type { MailSender } from './mail-sender.ts'
import type { MailContent, MailData, MailPreference, Template, DataReader } from './mail-content.ts'
import { MONEY_TEMPLATES } from './money-templates.ts'
import { SECURITY_TEMPLATES } from './security-templates.ts'

/** Longer than any name. */
const TEXT_MAX = 300
const CODE_MAX = 4_000
const WEB_ADDRESS = /^https?:\/\/[\w.~:/?#[\]@!$&()*+,;=%-]+$/

/** Formats times in the given zone. */
function readMailData(data: MailData, timezone: string): DataReader {
  const textOf = (name: string): string | undefined => {
    const value = data[name]
    if (typeof value === 'number' || typeof value === 'bigint') return String(value)
    return typeof value === 'string' ? value : undefined
  }
  return {
    text(name) {
      const line = oneLine(textOf(name) ?? '')
      return line === '' ? undefined : clip(line, TEXT_MAX)
    },
    code(name) {
      const code = textOf(name)?.replaceAll(/\p{Cc}/gu, '')
      return code === undefined || code === '' || code.length > CODE_MAX ? undefined : code
    },
    url(name) {
      const url = textOf(name)
      return url !== undefined && url.length <= CODE_MAX && WEB_ADDRESS.test(url) ? url : undefined
    },
    brl: (name) => formatBrl(textOf(name) ?? ''),
    time(name) {
      const at = new Date(textOf(name) ?? '')
      return Number.isNaN(at.getTime()) ? undefined : formatTime(at, timezone)
    },
    day: (name) => formatDay(textOf(name) ?? ''),
    count(name) {
      const value = data[name]
      return typeof value === 'number' && Number.isFinite(value) ? formatCount(value) : undefined
    },
    is: (name, value) => data[name] === value,
    list(name) {
      const value = data[name]
      if (!Array.isArray(value)) return []
      return value.map((entry: unknown) => readMailData(Object(entry) as MailData, timezone))
    },
  }
}

/** For text that people wrote: removes line breaks and characters that change the direction of writing. */
function oneLine(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
}

/** Cuts the text to at most `max` characters, without splitting one. */
function clip(text: string, max: number): string {
  const characters = Array.from(text)
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`
}

/** Mails by which people prove who they are. The reader need not be a customer. */
const NOT_YOU = 'Se não foi você, ignore este e-mail: se ninguém abrir o link acima, nada acontece.'

const SIGN_IN_TEMPLATES = {
  confirmar_email: (data) => ({
    isToStranger: true,
    subject: 'Confirme o seu e-mail',
    paragraphs: [
      'Alguém criou uma conta com este endereço de e-mail. Se foi você, abra o link abaixo e digite a senha que escolheu.',
      'Ele vale por 24 horas.',
    ],
    link: linkTo(data, 'Confirmar o e-mail'),
    closing: [NOT_YOU],
  }),
  link_de_entrada: (data) => ({
    isToStranger: true,
    subject: 'Seu link de acesso',
    paragraphs: [
      'Abra o link abaixo para entrar na sua conta, sem senha. Ele funciona uma vez só e vale por 15 minutos.',
    ],
    link: linkTo(data, 'Entrar'),
    closing: ['Não repasse este e-mail a ninguém: quem tiver o link entra na sua conta.', NOT_YOU],
  }),
  nova_senha: (data) => ({
    isToStranger: true,
    subject: 'Escolha uma nova senha',
    paragraphs: [
      'Abra o link abaixo para escolher uma nova senha. Ele funciona uma vez só e vale por uma hora.',
      'Quem estiver com a sua conta aberta em outro lugar terá de entrar de novo.',
    ],
    link: linkTo(data, 'Escolher a senha'),
    closing: [NOT_YOU],
  }),
  conta_existente: (data) => ({
    isToStranger: true,
    subject: 'Você já tem uma conta',
    paragraphs: [
      'Alguém tentou criar uma conta com este endereço de e-mail, mas ela já existe. Nada mudou.',
      'Se foi você, entre com a sua senha ou peça um link de acesso. Se esqueceu a senha, escolha outra.',
    ],
    link: linkTo(data, 'Entrar'),
    closing: ['Se não foi você, ignore este e-mail.'],
  }),
} satisfies Record<string, Template>

function linkTo(data: DataReader, label: string) {
  const url = data.url('url')
  return url === undefined ? undefined : { label, url }
}

/** Mails to operators. */
const OPERATOR_TEMPLATES = {
  precos_diferentes: (data) => ({
    isToStranger: true,
    subject: 'Preços diferentes dos publicados',
    paragraphs: [
      'Os preços em vigor de alguns modelos são diferentes dos preços publicados pelos provedores. Enquanto isso, as chamadas são cobradas pelos preços em vigor.',
      'Veja com "npm run catraca -- prices pending" e responda com "prices approve" ou "prices reject", ou na página de modelos do painel. A mesma diferença não será avisada de novo.',
    ],
    facts: [
      ['Modelos', data.text('models')],
      ['Quantidade', data.count('models_count')],
      ['Data', data.time('at')],
    ],
  }),
} satisfies Record<string, Template>

const TEMPLATES = {
  ...MONEY_TEMPLATES,
  ...ACCOUNT_TEMPLATES,
  ...SIGN_IN_TEMPLATES,
  ...SECURITY_TEMPLATES,
  ...OPERATOR_TEMPLATES,
}
export type TemplateName = keyof typeof TEMPLATES
export const TEMPLATE_NAMES = Object.keys(TEMPLATES) as TemplateName[]

export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The header `List-Unsubscribe` of an optional mail. */
  readonly listUnsubscribe?: string
  /** The header `List-Unsubscribe-Post` (RFC 8058), when there is a URL for it. */
  readonly listUnsubscribePost?: string
}

export interface MailReader {
  readonly name: string
  readonly timezone: string
  /** By default Portuguese. */
  readonly language?: Language
  /** Unsubscribes the reader from optional mails. */
  readonly unsubscribeUrl?: string | undefined
}

interface Parts extends MailContent {
  readonly greeting: string
  readonly wayOut: WayOut | undefined
  readonly footer: readonly string[]
}

interface WayOut {
  readonly text: string
  readonly url?: string | undefined
}

const SUBJECT_MAX = 150
const ONE_CLICK = 'List-Unsubscribe=One-Click'

/** Renders a mail from its template. Throws for an unknown template. */
export function renderMail(
  template: string,
  data: MailData,
  reader: MailReader,
  sender: MailSender,
): RenderedMail {
  if (!Object.hasOwn(TEMPLATES, template)) throw new Error(`no template ${template}`)
  const write: Template = TEMPLATES[template as TemplateName]
  return inLanguage(reader.language ?? 'pt-BR', () =>
    renderContent(write(readMailData(data, reader.timezone)), reader, sender),
  )
}

function renderContent(written: MailContent, reader: MailReader, sender: MailSender): RenderedMail {
  const content = translated(written)
  const { preference } = content
  const name = oneLine(reader.name)
  const unsubscribeUrl =
    preference && reader.unsubscribeUrl && `${reader.unsubscribeUrl}?preference=${preference}`
  const parts: Parts = {
    ...content,
    subject: subjectOf(content, sender),
    link: content.link ?? linkToPage(content, sender),
    greeting: content.isToStranger || name === '' ? t('Olá,') : t`Olá, ${name},`,
    wayOut: preference && wayOutOf(sender, { preference, url: unsubscribeUrl }),
    footer: footerOf(sender),
  }
  const mail = { subject: parts.subject, text: asText(parts), html: asHtml(parts) }
  if (!preference) return mail
  const byMail = `<mailto:${sender.company.contactEmail}?subject=cancelar%20${preference}>`
  return unsubscribeUrl === undefined
    ? { ...mail, listUnsubscribe: byMail }
    : {
        ...mail,
        listUnsubscribe: `<${unsubscribeUrl}>, ${byMail}`,
        listUnsubscribePost: ONE_CLICK,
      }
}

/** The texts of a template in the language that is being written. Its values, which may be a customer's words, stay. */
function translated(content: MailContent): MailContent {
  const { subject, paragraphs, facts = [], copied, link, page, closing = [] } = content
  return {
    ...content,
    subject: t(subject),
    paragraphs: paragraphs.map((text) => t(text)),
    facts: facts.map(([label, value]) => [t(label), value]),
    copied: copied && { ...copied, label: t(copied.label) },
    link: link && { ...link, label: t(link.label) },
    ...(page && { page: { ...page, label: t(page.label) } }),
    closing: closing.map((text) => t(text)),
  }
}

function subjectOf(content: MailContent, sender: MailSender): string {
  return `${sender.isSandbox ? `${t('[modo de teste]')} ` : ''}${clip(oneLine(content.subject), SUBJECT_MAX)}`
}

function linkToPage({ page }: MailContent, { publicUrl }: MailSender): MailContent['link'] {
  if (!page || publicUrl === undefined) return undefined
  return { label: page.label, url: new URL(page.path, publicUrl).href }
}

function wayOutOf(
  { publicUrl = '', company }: MailSender,
  { preference, url }: { readonly preference: MailPreference; readonly url: string | undefined },
): WayOut {
  if (url !== undefined) return { text: t('Para não receber mais e-mails como este:'), url }
  return {
    text: t`Para não receber mais e-mails como este, envie ${JSON.stringify({ [preference]: false })} por PUT ${publicUrl}/v1/me/preferences, ou escreva para ${company.contactEmail}.`,
  }
}

function footerOf({ company, publicUrl, isSandbox }: MailSender): string[] {
  return [
    `${company.name}, CNPJ ${formatTaxId(company.cnpj)}`,
    company.address,
    t`Contato: ${company.contactEmail}`,
    ...(publicUrl === undefined ? [] : [publicUrl]),
    ...(isSandbox
      ? [
          t(
            'Este e-mail é do modo de teste: empresa, CNPJ e valores são fictícios, e nada foi cobrado.',
          ),
        ]
      : []),
  ].map(oneLine)
}

function shownFacts({ facts = [] }: Parts): (readonly [string, string])[] {
  return facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, value] as const]))
}

function asText(parts: Parts): string {
  const { greeting, paragraphs, copied, link, closing = [], wayOut, footer } = parts
  const facts = shownFacts(parts).map(([label, value]) => `${label}: ${value}`)
  return [
    greeting,
    ...paragraphs,
    ...(facts.length > 0 ? [facts.join('\n')] : []),
    ...(copied ? [`${copied.label}:\n${copied.text}`] : []),
    ...(link ? [`${link.label}:\n${link.url}`] : []),
    ...closing,
    ...(wayOut ? [[wayOut.text, wayOut.url].filter(Boolean).join('\n')] : []),
    // The conventional line before a signature, which mail programs recognize.
    `-- \n${footer.join('\n')}\n`,
  ].join('\n\n')
}

const BODY =
  'margin:0 auto;padding:24px;max-width:36em;font:16px/1.5 system-ui,-apple-system,Segoe UI,Roboto,sans-serif;color:#1a1a1a;background:#ffffff'
const CODE =
  'padding:12px;background:#f2f2f2;font:14px/1.4 ui-monospace,Consolas,monospace;white-space:pre-wrap;overflow-wrap:anywhere'
const SMALL = 'font-size:14px;color:#595959'

function asHtml(parts: Parts): string {
  const { subject, greeting, paragraphs, copied, link, closing = [], wayOut, footer } = parts
  const facts = shownFacts(parts).map(
    ([label, value]) =>
      `<dt style="${SMALL}">${escapeHtml(label)}</dt><dd style="margin:0 0 8px;overflow-wrap:anywhere"><strong>${escapeHtml(value)}</strong></dd>`,
  )
  return [
    `<!doctype html><html lang="${language()}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(subject)}</title></head>`,
    `<body style="${BODY}"><main><h1 style="font-size:20px">${escapeHtml(subject)}</h1>`,
    ...[greeting, ...paragraphs].map((text) => `<p>${escapeHtml(text)}</p>`),
    facts.length > 0 ? `<dl>${facts.join('')}</dl>` : '',
    copied
      ? `<p>${escapeHtml(copied.label)}:</p><pre style="${CODE}">${escapeHtml(copied.text)}</pre>`
      : '',
    link ? `<p>${escapeHtml(link.label)}:<br>${linkOf(link).trim()}</p>` : '',
    ...closing.map((text) => `<p>${escapeHtml(text)}</p>`),
    '</main>',
    `<footer style="${SMALL};border-top:1px solid #cccccc">`,
    wayOut ? `<p>${escapeHtml(wayOut.text)}${linkOf(wayOut)}</p>` : '',
    `<p>${footer.map(escapeHtml).join('<br>')}</p></footer></body></html>`,
  ]
    .filter(Boolean)
    .join('\n')
}

function linkOf({ url }: Pick<WayOut, 'url'>): string {
  return url === undefined ? '' : ` <a href="${escapeHtml(url)}">${escapeHtml(url)}</a>`
}
