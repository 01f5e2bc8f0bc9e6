/** The playground for its components: the conversation, the choices, and the possible actions. */
import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import type { Session } from '../../api/session.ts'
import { catalogQuery, type CatalogModel } from '../models/catalog-query.ts'
import type { ChatSettings } from './chat-settings.ts'
import { isAnswering, type Conversation, type Lane } from './conversation.ts'
import { keepKey, readKeptKey } from './kept-playground.ts'
import { payingKeysQuery, type PayingKey } from './playground-queries.ts'
import { playgroundOf, type Asked, type Playground } from './playground-store.ts'
import { readTools } from './tools-text.ts'

export interface LaneView {
  readonly lane: Lane
  /** The default model when the user chose none. */
  readonly modelId: string
  /** Undefined if the key may not call it, or it is not in the catalog. */
  readonly model: CatalogModel | undefined
}

export interface PlaygroundView {
  readonly customerId: string
  readonly playground: Playground
  readonly conversation: Conversation
  readonly lanes: readonly LaneView[]
  readonly settings: ChatSettings
  readonly isRunning: boolean
  /** Chat and image models that the key may call. */
  readonly models: readonly CatalogModel[]
  readonly keys: readonly PayingKey[]
  /** Undefined while there are only keys of teams, until the user chooses one. */
  readonly apiKey: PayingKey | undefined
  readonly chooseKey: (id: string) => void
  /** The rest of a request; undefined while part of it is missing. */
  readonly asked: Asked | undefined
}

export function usePlayground(session: Session) {
  const playground = playgroundOf(session.customer.id)
  const { conversation, settings } = useSyncExternalStore(playground.subscribe, playground.get)
  const catalog = useQuery(catalogQuery)
  const paying = useQuery(payingKeysQuery)
  const [keyId, setKeyId] = useState(readKeptKey)
  const keys = paying.data ?? []
  // A team's key pays with the team's money: only by the user's own choice.
  const apiKey = keys.find(({ id }) => id === keyId) ?? keys.find(({ team_id }) => team_id === null)
  const isSandbox = session.mode === 'sandbox'
  const models = playableModels(catalog.data?.models ?? [], apiKey, isSandbox)
  const lanes = conversation.lanes.map((lane) => {
    const modelId = lane.model || modelAtFirst(models, isSandbox)
    return { lane, modelId, model: models.find(({ id }) => id === modelId) }
  })
  const isSound = 'tools' in readTools(settings.tools)
  const isChosen = lanes.every(({ modelId }) => modelId !== '')
  const view: PlaygroundView = {
    customerId: session.customer.id,
    playground,
    conversation,
    lanes,
    settings,
    isRunning: conversation.lanes.some(isAnswering),
    models,
    keys,
    apiKey,
    chooseKey(id) {
      keepKey(id)
      setKeyId(id)
    },
    asked: apiKey && isChosen && isSound ? askedOf(apiKey, lanes) : undefined,
  }
  return { view, catalog, paying }
}

function askedOf({ id: apiKeyId }: PayingKey, lanes: readonly LaneView[]): Asked {
  const models = new Map(
    lanes.map(
      ({ lane, modelId, model }) =>
        [lane.id, { id: modelId, drawsImages: model?.category === 'image' }] as const,
    ),
  )
  return { apiKeyId, models }
}

/** A customer without a balance gets the models that can be tried for free first. */
function playableModels(
  models: readonly CatalogModel[],
  apiKey: PayingKey | undefined,
  isSandbox: boolean,
): readonly CatalogModel[] {
  const allowed = apiKey?.model_ids ?? null
  const playable = models.filter(
    ({ id, category }) =>
      (category === 'llm' || category === 'image') && (allowed === null || allowed.includes(id)),
  )
  if (!isSandbox) return playable
  return playable.toSorted((left, right) => Number(isTrial(right)) - Number(isTrial(left)))
}

function isTrial({ id }: CatalogModel): boolean {
  return id.startsWith('sandbox-')
}

function modelAtFirst(models: readonly CatalogModel[], isSandbox: boolean): string {
  const wanted = isSandbox ? 'sandbox-chat' : 'gpt-4o-mini'
  const chat = models.filter(({ category }) => category === 'llm')
  return (chat.find(({ id }) => id === wanted) ?? chat[0] ?? models[0])?.id ?? ''
}
