/** `/status` for visitors: what works, what was wrong, and how each maker's models did on each of the last days. */
import type { findServiceNews } from '../../http/incidents/find-service-news.ts'
import type { VendorHealth } from '../../platform/health/health-summaries.ts'
import { language, t } from '../../platform/lib/language.ts'
import { html, trustedHtml, type Html } from '../../platform/lib/html.ts'
import { formatCount, formatDay, formatTime } from '../../deliveries/email/formats.ts'
import { layout, type SiteDeps } from './layout.ts'

export const STATUS_DAYS = 90
export const FEED_PATH = '/status.atom'

export const STATUS_STYLE = `.state{display:flex;gap:.75rem;align-items:baseline;border-radius:.875rem;padding:1rem 1.25rem;margin-top:1.5rem;font-size:1.125rem;font-weight:600;background:var(--accent-soft);color:var(--accent-strong)}
.state.bad{background:var(--warning-soft);color:var(--warning)}
.stack{display:grid;gap:1rem;margin-top:1.25rem}.stack p{overflow-wrap:anywhere}
.maker{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1rem;margin-top:1.25rem}.maker:first-child{margin-top:0}
.bars{display:block;width:100%;height:2.25rem;margin-top:.35rem}
.bars .all{fill:var(--accent)}.bars .most{fill:#c98a1b}.bars .few{fill:#c4392f}.bars .none{fill:var(--line)}
.ends{display:flex;justify-content:space-between}`

export interface StatusFacts {
  readonly news: Awaited<ReturnType<typeof findServiceNews>>
  readonly lastDay: readonly VendorHealth[]
  readonly health: readonly VendorHealth[]
  readonly now: Date
}

type News = StatusFacts['news']

/** Writes the page; without facts, the database cannot be read, and that is the news. */
export function statusPage(facts: StatusFacts | undefined, deps: SiteDeps): Html {
  const [tone, text] = facts ? stateOf(facts.news, facts.lastDay) : unreadable()
  return layout(
    {
      path: '/status',
      title: t('Status · Catraca'),
      description: t(
        'Como estão a Catraca e os modelos agora, e como estiveram nos últimos 90 dias.',
      ),
      style: STATUS_STYLE,
      feed: { path: FEED_PATH, title: t('Status da Catraca') },
      main: html`<div class="wrap">
        <h1>Status</h1>
        <p class="lead">Como estão a Catraca e os modelos agora.</p>
        <p class="state ${tone}">${tone === 'good' ? '✓' : '!'} ${text}</p>
        <p class="small muted">
          Em ${time(facts?.now ?? new Date())}, horário de Brasília.
          <a href="/status">Atualizar</a>
        </p>
        ${facts && details(facts)}
        <p class="gap small muted">
          Para saber de incidentes: o <a href="${FEED_PATH}">feed Atom</a>, ou por e-mail, nas
          <a href="/perfil">preferências da sua conta</a>.
        </p>
      </div>`,
    },
    deps,
  )
}

const unreadable = () =>
  ['bad', t('A Catraca não está funcionando bem. Já estamos verificando.')] as const

function details({ news, health, now }: StatusFacts): Html {
  return html`${openIncidents(news)}
    <h2 class="gap">Fabricantes de modelos</h2>
    <p class="muted">
      Disponibilidade de cada dia, medida nas chamadas de todos os clientes nos últimos
      ${STATUS_DAYS} dias.
    </p>
    ${
      health.length === 0
        ? html`<p class="card muted">Ainda sem medições: elas aparecem com o uso.</p>`
        : html`<div class="card stack">${health.map((each) => makerBars(each, now))}</div>`
    }
    ${resolvedIncidents(news)}`
}

/** With fewer calls, one failure would be an outage. The dashboard's page has the same rule (`ServiceState.tsx`). */
const CALLS_MIN = 20
const UPTIME_PERCENT_MIN = 95

function stateOf(
  { open, outOfService, isPaused }: News,
  lastDay: readonly VendorHealth[],
): ['good' | 'bad', string] {
  if (isPaused) return ['bad', t('As chamadas de modelos estão pausadas.')]
  if (open.length > 0)
    return [
      'bad',
      open.length === 1
        ? t('Um incidente em andamento')
        : t`${open.length} incidentes em andamento`,
    ]
  if (outOfService.length > 0) return ['bad', t`Fora do ar: ${outOfService.join(', ')}`]
  const failing = lastDay.filter(
    ({ requests, uptimePercent }) => requests >= CALLS_MIN && uptimePercent < UPTIME_PERCENT_MIN,
  )
  if (failing.length > 0)
    return [
      'bad',
      t`Parte das chamadas falhou nas últimas 24 horas: ${failing.map(({ vendor }) => vendor).join(', ')}`,
    ]
  return ['good', t('Tudo funcionando')]
}

export const SEVERITY_WORDS = { minor: 'Leve', major: 'Grave', critical: 'Crítico' } as const

function openIncidents({ open }: News): Html | false {
  return (
    open.length > 0 &&
    html`<h2 class="gap">Incidentes em andamento</h2>
      <div class="stack">
        ${open.map((incident) => {
          const affected = [...incident.vendors, ...incident.modelIds]
          return html`<article class="card">
            <h3>
              ${incident.title}
              <span class="tag warn">${t(SEVERITY_WORDS[incident.severity])}</span>
            </h3>
            <p>${incident.message}</p>
            <p class="small muted">
              Desde
              ${time(incident.openedAt)}.${affected.length > 0 && t` Afeta: ${affected.join(', ')}.`}
            </p>
          </article>`
        })}
      </div>`
  )
}

function resolvedIncidents({ resolved }: News): Html | false {
  return (
    resolved.length > 0 &&
    html`<h2 class="gap">Incidentes resolvidos</h2>
      <div class="stack">
        ${resolved.map(
          (incident) =>
            html`<article class="card">
              <h3>${incident.title}</h3>
              <p>${incident.message}</p>
              <p class="small muted">
                De ${time(incident.openedAt)} a ${time(incident.resolvedAt)}.
              </p>
            </article>`,
        )}
      </div>`
  )
}

const BARS = [
  { name: 'all', isIt: (percent: number) => percent >= 99 },
  { name: 'most', isIt: (percent: number) => percent >= UPTIME_PERCENT_MIN },
  { name: 'few', isIt: () => true },
]

function makerBars(
  { vendor, uptimePercent, requests, p50Ms, byDay }: VendorHealth,
  now: Date,
): Html {
  const known = new Map(byDay.map(({ day, uptimePercent: percent }) => [day, percent]))
  const days = Array.from({ length: STATUS_DAYS }, (_, place) =>
    dayOf(new Date(now.getTime() - (STATUS_DAYS - 1 - place) * 86_400_000)),
  )
  const shapes = new Map<string, string>()
  for (const [place, day] of days.entries()) {
    const percent = known.get(day)
    const name =
      percent === undefined ? 'none' : (BARS.find(({ isIt }) => isIt(percent))?.name ?? '')
    shapes.set(name, `${shapes.get(name) ?? ''}M${place * 4} 0h3v36h-3z`)
  }
  const paths = [...shapes].map(([name, shape]) => `<path class="${name}" d="${shape}"/>`)
  const worst = byDay.toSorted((left, right) => left.uptimePercent - right.uptimePercent)[0]
  const summary = t`${vendor}: ${percentText(uptimePercent)} em ${STATUS_DAYS} dias${
    worst && worst.uptimePercent < 100
      ? t`; o pior dia foi ${formatDay(worst.day) ?? ''}, com ${percentText(worst.uptimePercent)}`
      : ''
  }`
  return html`<div>
    <div class="maker">
      <h3>${vendor}</h3>
      <span
        >${percentText(uptimePercent)}
        <span class="small muted"
          >${p50Ms === null ? '' : t`mediana de ${formatCount(Math.round(p50Ms))} ms, `}${formatCount(requests)}
          ${requests === 1 ? t('chamada') : t('chamadas')}</span
        ></span
      >
    </div>
    <svg
      class="bars"
      viewBox="0 0 ${STATUS_DAYS * 4 - 1} 36"
      preserveAspectRatio="none"
      role="img"
      aria-label="${summary}"
    >
      ${trustedHtml(paths.join(''))}
    </svg>
    <p class="ends small muted"><span>há ${STATUS_DAYS} dias</span><span>hoje</span></p>
  </div>`
}

const PERCENT = {
  'pt-BR': new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 2 }),
  'en-US': new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 }),
}

function percentText(percent: number): string {
  return `${PERCENT[language()].format(percent)}%`
}

const ZONE = 'America/Sao_Paulo'

function time(at: Date): string {
  return formatTime(at, ZONE)
}

const DAY = new Intl.DateTimeFormat('sv-SE', { timeZone: ZONE })

/** 2026-11-28 */
function dayOf(at: Date): string {
  return DAY.format(at)
}
