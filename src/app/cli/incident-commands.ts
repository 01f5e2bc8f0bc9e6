import { OPERATOR } from '../../platform/audit-log/audited.ts'
import { vendorsOf } from '../../money/catalog/model.ts'
import type { Config } from '../config/config.ts'
import {
  INCIDENT_MESSAGE_MAX,
  INCIDENT_SEVERITIES,
  INCIDENT_TITLE_MAX,
  listIncidents,
  openIncident,
  resolveIncident,
  updateIncident,
  type Incident,
} from '../../platform/health/incidents.ts'
import {
  optionList,
  optionText,
  requiredText,
  UsageError,
  type Command,
  type CommandInput,
  type CommandOptions,
} from './command.ts'

export const incidentCommands: Record<string, Command> = {
  'incident open': {
    usage:
      '--title TEXT --message TEXT [--severity minor|major|critical] [--model a,b] [--vendor a,b]',
    about: 'report a problem to all customers, in Portuguese',
    async run({ db, config, options }) {
      const title = shortText(requiredText(options, 'title'), 'title', INCIDENT_TITLE_MAX)
      const message = messageOf(requiredText(options, 'message'))
      const severity = severityOf(options) ?? 'major'
      const modelIds = knownModels(config, optionList(options, 'model') ?? [])
      const vendors =
        knownVendors(config, optionList(options, 'vendor')) ?? vendorsOf(config.models, modelIds)
      const incident = { title, message, severity, modelIds, vendors }
      const id = await openIncident(db, OPERATOR, incident)
      return {
        data: { id, title, message, severity, models: modelIds, vendors },
        text: `opened ${id}  ${title}`,
      }
    },
  },
  'incident update': {
    usage: '<incident id> --message TEXT [--severity minor|major|critical]',
    about: 'post an update; customers see the newest message',
    async run(input) {
      const id = idOf(input)
      const message = messageOf(requiredText(input.options, 'message'))
      const severity = severityOf(input.options)
      const outcome = await updateIncident(input.db, OPERATOR, { id, message, severity })
      if (outcome === 'incident_not_found') throw new UsageError(`no incident ${id}`)
      if (outcome === 'already_resolved')
        throw new UsageError('the incident is resolved; open a new one if the problem is back')
      return { data: { outcome }, text: 'updated' }
    },
  },
  'incident resolve': {
    usage: '<incident id> [--message TEXT]',
    about: 'resolve the incident; if its circuit breaker is still open, it reopens',
    async run(input) {
      const id = idOf(input)
      const given = optionText(input.options, 'message')
      const message = given === undefined ? undefined : messageOf(given)
      const outcome = await resolveIncident(input.db, OPERATOR, { id, message })
      if (outcome === 'incident_not_found') throw new UsageError(`no incident ${id}`)
      return {
        data: { outcome },
        text: outcome === 'resolved' ? 'resolved' : 'it was already resolved',
      }
    },
  },
  'incident list': {
    usage: '[--all]',
    about: 'open incidents, with their history in --json; --all includes resolved ones',
    async run({ db, options }) {
      const incidents = await listIncidents(db, { onlyOpen: options.all !== true })
      return {
        data: incidents.map(incidentBody),
        text:
          incidents.length === 0
            ? 'no incidents'
            : {
                columns: ['id', 'state', 'severity', 'source', 'opened', 'models', 'title'],
                rows: incidents.map((incident) => [
                  incident.id,
                  stateOf(incident),
                  incident.severity,
                  incident.subject === null
                    ? incident.source
                    : `${incident.source} ${incident.subject}`,
                  incident.openedAt.toISOString(),
                  incident.modelIds.join(',') || '-',
                  incident.title,
                ]),
              },
      }
    },
  },
}

function idOf({ args }: CommandInput): string {
  const [id] = args
  if (id === undefined) throw new UsageError('give the id of an incident')
  return id
}

function shortText(text: string, name: string, charactersMax: number): string {
  if (text.trim() === '') throw new UsageError(`--${name}: must not be empty`)
  if (text.length > charactersMax)
    throw new UsageError(`--${name}: must be ${charactersMax} characters at most`)
  return text
}

function messageOf(text: string): string {
  return shortText(text, 'message', INCIDENT_MESSAGE_MAX)
}

function severityOf(options: CommandOptions): Incident['severity'] | undefined {
  const text = optionText(options, 'severity')
  if (text === undefined) return undefined
  const severity = INCIDENT_SEVERITIES.find((known) => known === text)
  if (!severity)
    throw new UsageError(
      `--severity: must be one of ${INCIDENT_SEVERITIES.join(', ')}, not "${text}"`,
    )
  return severity
}

/** Customers read the catalog's names: a typing error would show, and an upstream's id must not. */
function knownModels({ models }: Config, ids: string[]): string[] {
  const unknown = ids.filter((id) => !models.some((model) => model.id === id))
  if (unknown.length > 0) throw new UsageError(`--model: not in the catalog: ${unknown.join(', ')}`)
  return ids
}

function knownVendors({ models }: Config, vendors: string[] | undefined): string[] | undefined {
  const unknown = vendors?.filter((vendor) => !models.some((model) => model.vendor === vendor))
  if (unknown && unknown.length > 0)
    throw new UsageError(`--vendor: no model of the catalog is from: ${unknown.join(', ')}`)
  return vendors
}

function stateOf(incident: Incident): 'open' | 'resolved' {
  return incident.resolvedAt ? 'resolved' : 'open'
}

function incidentBody(incident: Incident): Record<string, unknown> {
  return {
    id: incident.id,
    state: stateOf(incident),
    severity: incident.severity,
    source: incident.source,
    subject: incident.subject,
    title: incident.title,
    message: incident.message,
    models: incident.modelIds,
    vendors: incident.vendors,
    opened_at: incident.openedAt,
    updated_at: incident.updatedAt,
    resolved_at: incident.resolvedAt,
    updates: incident.updates.map((update) => ({
      status: update.status,
      severity: update.severity,
      message: update.message,
      created_at: update.createdAt,
    })),
  }
}
