/** The playground for its components: the conversation, the choices, and the possible actions. */
import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import type { Session } from '../../api/session.ts'
import { catalogQuery, type CatalogModel } from '../models/catalog-query.ts'
import type { ChatSettings } from './chat-settings.ts'
import type { Conversation } from './conversation.ts'
import { keepKey, readKeptKey } from './kept-playground.ts'
import { payingKeysQuery, type PayingKey } from './playground-queries.ts'
import { playgroundOf, type Asked, type Playground } from './playground-store.ts'
import { readTools } from './tools-text.ts'

export interface PlaygroundView {
  readonly playground: Playground
  readonly conversation: Conversation
  /** Includes the default model when the user chose none. */
  readonly settings: ChatSettings
  readonly isRunning: boolean
  /** Chat models that the key may call. */
  readonly models: readonly CatalogModel[]
  readonly model: CatalogModel | undefined
  readonly keys: readonly PayingKey[]
  readonly apiKey: PayingKey | undefined
  readonly chooseKey: (id: string) => void
  /** The rest of a request; undefined while part of it is missing. */
  readonly asked: Asked | undefined
}

export function usePlayground(session: Session) {
  const playground = playgroundOf(session.customer.id)
  const kept = useSyncExternalStore(playground.subscribe, playground.get)
  const catalog = useQuery(catalogQuery)
  const paying = useQuery(payingKeysQuery)
  const [keyId, setKeyId] = useState(readKeptKey)
  const keys = paying.data ?? []
  const apiKey = keys.find(({ id }) => id === keyId) ?? keys[0]
  const models = chatModels(catalog.data?.models ?? [], apiKey, session.mode === 'sandbox')
  const { conversation } = kept
  const settings = {
    ...kept.settings,
    model: kept.settings.model || modelAtFirst(models, session.mode === 'sandbox'),
  }
  const last = conversation.turns.at(-1)
  const isSound = 'tools' in readTools(settings.tools)
  const view: PlaygroundView = {
    playground,
    conversation,
    settings,
    isRunning: last?.kind === 'answer' && last.state === 'running',
    models,
    model: models.find(({ id }) => id === settings.model),
    keys,
    apiKey,
    chooseKey(id) {
      keepKey(id)
      setKeyId(id)
    },
    asked:
      apiKey && settings.model !== '' && isSound
        ? { model: settings.model, apiKeyId: apiKey.id }
        : undefined,
  }
  return { view, catalog, paying }
}

/** A customer without a balance gets the models that can be tried for free first. */
function chatModels(
  models: readonly CatalogModel[],
  apiKey: PayingKey | undefined,
  isSandbox: boolean,
): readonly CatalogModel[] {
  const allowed = apiKey?.model_ids ?? null
  const talking = models.filter(
    ({ id, category }) => category === 'llm' && (allowed === null || allowed.includes(id)),
  )
  if (!isSandbox) return talking
  return talking.toSorted((left, right) => Number(isTrial(right)) - Number(isTrial(left)))
}

function isTrial({ id }: CatalogModel): boolean {
  return id.startsWith('sandbox-')
}

function modelAtFirst(models: readonly CatalogModel[], isSandbox: boolean): string {
  const wanted = isSandbox ? 'sandbox-chat' : 'gpt-4o-mini'
  return (models.find(({ id }) => id === wanted) ?? models[0])?.id ?? ''
}
