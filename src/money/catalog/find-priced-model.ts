import { findProvider, type MatchLogic, type ModelInfo } from '@pydantic/genai-prices'
import type { PublishedData } from './published-prices.ts'
import { pricedBy } from './upstream-presets.ts'

/** Kinds that answer no chats, cost more than their tokens, or are one customer's own. */
const OTHER_KINDS =
  /(?:^|[-_/.:])(?:audio|realtime|live|tts|transcribe|whisper|voxtral|voice|speech|images?|imagine|imagen|video|veo|sora|lyria|dall-e|moderation|embed\w*|rerank\w*|ocr|search|sonar|research|multi-agent|computer-use|robotics|aqa|online|free|ft|finetune)(?:$|[-_/.:\d])|^gpt-3\.5-turbo-instruct|^(?:babbage|davinci|gpt-5(?:\.4)?-image)/i
export function isChatModel(name: string): boolean {
  return !OTHER_KINDS.test(name)
}

/** Whether an upstream may list a model of this name, so that it is discovered. */
export function mayBeDiscovered(name: string): boolean {
  const providers = Object.values(pricedBy)
  return isChatModel(name) && providers.some(({ provider }) => findPricedModel(provider, name))
}

const entries = new Map<string, ReadonlyMap<string, ModelInfo>>()

/** The entry whose price a provider charges for the model that it calls so: of the package, or of the newer data. */
export function findPricedModel(
  provider: string,
  name: string,
  added: PublishedData = [],
): ModelInfo | undefined {
  const models = findProvider({ providerId: provider })?.models ?? []
  const byName =
    entries.get(provider) ??
    new Map(
      models.toReversed().flatMap((entry) => namesOf(entry.match).map((each) => [each, entry])),
    )
  entries.set(provider, byName)
  return (
    byName.get(name) ??
    models.find(({ match }) => isNamed(match, name)) ??
    added.find(({ id }) => id === provider)?.models.find(({ match }) => isNamed(match, name))
  )
}

function namesOf(match: MatchLogic): string[] {
  if ('or' in match) return match.or.flatMap(namesOf)
  return 'equals' in match ? [match.equals] : []
}

/** After the beginning of a name that the data has. */
const VERSION_BEHIND = /^(?:[-@]?\d{3,8}|-\d{4}-\d\d-\d\d|-latest|-preview(?:-[\d-]+)?)?$/

/**
 * Matches names as the data does, but for beginnings: what follows must be a version. `claude-sonnet-5` is the beginning of
 * the next model's name, too, which has another price.
 */
export function isNamed(match: MatchLogic, name: string): boolean {
  if ('or' in match) return match.or.some((each) => isNamed(each, name))
  if ('and' in match) return match.and.every((each) => isNamed(each, name))
  if ('equals' in match) return match.equals === name
  if ('regex' in match) return new RegExp(match.regex).test(name)
  const text =
    'starts_with' in match
      ? match.starts_with
      : 'contains' in match
        ? match.contains
        : match.ends_with
  return name.startsWith(text) && VERSION_BEHIND.test(name.slice(text.length))
}
