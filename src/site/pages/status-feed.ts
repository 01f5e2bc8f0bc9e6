/** `/status.atom`: the incidents of `/status` with their updates, for feed readers (RFC 4287). */
import { formatTime } from '../../deliveries/email/formats.ts'
import type { findServiceNews } from '../../http/incidents/find-service-news.ts'
import type { Incident } from '../../platform/health/incidents.ts'
import { html, htmlText, trustedHtml, type Html } from '../../platform/lib/html.ts'
import { FEED_PATH, SEVERITY_WORDS } from './status-page.ts'

const STATUS_WORDS = { opened: 'Aberto', updated: 'Atualizado', resolved: 'Encerrado' } as const

/** Two feeds of the same incidents are the same text, so that readers get a 304. */
export function statusFeed(
  { open, resolved }: Awaited<ReturnType<typeof findServiceNews>>,
  origin: string,
): Html {
  const incidents = [...open, ...resolved].toSorted(
    (left, right) => right.updatedAt.getTime() - left.updatedAt.getTime(),
  )
  const updatedAt = incidents[0]?.updatedAt ?? new Date(0)
  return html`${DECLARATION}
    <feed xmlns="http://www.w3.org/2005/Atom" xml:lang="pt-BR">
      <id>${origin}${FEED_PATH}</id>
      <title>Status da Catraca</title>
      <updated>${updatedAt.toISOString()}</updated>
      <author><name>Catraca</name></author>
      <link rel="self" type="application/atom+xml" href="${origin}${FEED_PATH}" />
      <link rel="alternate" type="text/html" href="${origin}/status" />
      ${incidents.map((incident) => entry(incident, origin))}
    </feed> `
}

/** Must be the first characters of the text. */
const DECLARATION = trustedHtml('<?xml version="1.0" encoding="UTF-8"?>')

function entry(incident: Incident, origin: string): Html {
  const { id, title, severity, vendors, modelIds, openedAt, updatedAt, updates } = incident
  const affected = [...vendors, ...modelIds]
  const content = html`${updates
      .toReversed()
      .map(
        (update) =>
          html`<p>
            <strong>${STATUS_WORDS[update.status]}</strong> em
            ${formatTime(update.createdAt, 'America/Sao_Paulo')}.
            ${update.message !== null && update.message}
          </p>`,
      )}
    <p>
      Gravidade:
      ${SEVERITY_WORDS[severity]}.${affected.length > 0 && ` Afeta: ${affected.join(', ')}.`}
    </p>`
  return html`<entry>
    <id>urn:uuid:${id}</id>
    <title>${xmlText(incident.resolvedAt ? `Encerrado: ${title}` : title)}</title>
    <published>${openedAt.toISOString()}</published>
    <updated>${updatedAt.toISOString()}</updated>
    <link rel="alternate" type="text/html" href="${origin}/status" />
    <content type="html">${xmlText(htmlText(content))}</content>
  </entry>`
}

/** Without the characters that XML cannot have, not even escaped. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
}
