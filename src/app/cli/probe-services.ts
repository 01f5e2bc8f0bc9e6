/** Calls to the services that a server depends on, for `doctor`: each is cheap, limited in time and changes nothing. */
import type { Config } from '../config/config.ts'
import { openProvider } from '../open-upstreams.ts'
import type { ConfiguredUpstream } from '../config/resolve-upstreams.ts'
import type { ConfiguredModel } from '../../money/catalog/model.ts'
import { verifySmtp } from '../../deliveries/email/create-smtp-mailer.ts'
import { dayInBrasilia } from '../../platform/lib/days.ts'
import { createAsaas } from '../../money/payments/asaas/create-asaas.ts'
import type { Processor } from '../../money/payments/processor.ts'
import type { UpstreamFailure } from '../../gateway/providers/contract.ts'
import { cheapestRoute, tryChat } from '../try-chat.ts'
import type { Finding } from './run-doctor.ts'

const PROBE_MS_MAX = 15_000

/** Calls of upstreams cost a fraction of a cent each, so they are made by consent only. */
export async function probeServices(
  config: Pick<Config, 'mail' | 'asaas' | 'upstreams' | 'models'>,
  { callsUpstreams }: { readonly callsUpstreams: boolean },
): Promise<Finding[]> {
  const { mail, asaas, upstreams, models } = config
  const probes = [
    ...(mail ? [probeMail(mail.smtp)] : []),
    ...(asaas ? [probeProcessor(createAsaas(asaas))] : []),
    ...(callsUpstreams ? upstreams.map((upstream) => probeUpstream(upstream, models)) : []),
  ]
  const findings = await Promise.all(probes)
  if (callsUpstreams || upstreams.length === 0) return findings
  return [
    ...findings,
    {
      level: 'ok',
      text: `the keys of ${upstreams.map(({ id }) => id).join(', ')} were not tried: \`doctor --call-upstreams\` makes one small call with each, which they bill`,
    },
  ]
}

async function probeMail(smtp: Parameters<typeof verifySmtp>[0]): Promise<Finding> {
  const server = `the mail server ${smtp.host}:${smtp.port}`
  const fault = await inTime(verifySmtp(smtp), 'did not answer in time')
  return fault === undefined
    ? { level: 'ok', text: `${server} takes our mails (no mail was sent)` }
    : { level: 'fault', text: `${server}: ${fault}. Mend SMTP_URL: mails wait until then` }
}

/** Reads the payments of today, of which there may be none. */
export async function probeProcessor(processor: Processor): Promise<Finding> {
  const today = dayInBrasilia(new Date())
  try {
    const query = { by: 'created', fromDay: today, toDay: today } as const
    const fault = await inTime(
      processor
        .listPayments(query)
        .then((found) => (found.kind === 'payments' ? undefined : found.detail)),
      'did not answer in time',
    )
    return fault === undefined
      ? { level: 'ok', text: `the payment processor (${processor.id}) answers with our key` }
      : {
          level: 'fault',
          text: `the payment processor (${processor.id}): ${fault}. Check ASAAS_API_KEY and ASAAS_BASE_URL: nobody can top up meanwhile`,
        }
  } finally {
    await processor.close()
  }
}

async function probeUpstream(
  upstream: ConfiguredUpstream,
  models: readonly ConfiguredModel[],
): Promise<Finding> {
  const { id } = upstream
  const route = cheapestRoute(id, models)
  if (route === undefined)
    return { level: 'ok', text: `upstream ${id}: no chat model to try its key with` }
  const provider = await openProvider(upstream.adapter)
  try {
    const failure = await tryChat(provider, route)
    if (failure === undefined)
      return { level: 'ok', text: `upstream ${id} answers with our key (${route})` }
    return failureFinding(`upstream ${id} (${route})`, failure)
  } finally {
    await provider.close()
  }
}

function failureFinding(name: string, { reason, status }: UpstreamFailure): Finding {
  const text = `${name}: ${reason}${status === undefined ? '' : ` (${status})`}`
  switch (reason) {
    case 'credentials_refused':
      return { level: 'fault', text: `${text}. It refuses the key: set another one` }
    case 'rate_limited':
      return { level: 'warn', text: `${text}. The key is known, but has no quota left now` }
    case 'refused_request':
      return { level: 'warn', text: `${text}. The key is known, but not this model or request` }
    default:
      return { level: 'fault', text: `${text}. Check its address, and the network` }
  }
}

/** The fault of the work, if it has one, or if it takes too long. */
async function inTime(
  work: Promise<string | undefined>,
  late: string,
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(late), PROBE_MS_MAX)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
