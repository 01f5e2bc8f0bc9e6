import { useQuery } from '@tanstack/react-query'
import {
  BookmarkPlus,
  CodeXml,
  Columns2,
  HistoryIcon,
  SlidersHorizontal,
  SquarePen,
  X,
} from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Notice } from '../../components/Notice.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { classNames } from '../../lib/class-names.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { promptQuery } from '../prompts/prompt-queries.ts'
import { changedCount } from './chat-settings.ts'
import { Composer } from './Composer.tsx'
import { emptyConversation, LANES_MAX } from './conversation.ts'
import { History } from './History.tsx'
import { KeyChoice } from './KeyChoice.tsx'
import { ModelChoice } from './ModelChoice.tsx'
import { RequestCode } from './RequestCode.tsx'
import { SavePrompt } from './SavePrompt.tsx'
import { SettingsFields } from './SettingsFields.tsx'
import { Thread } from './Thread.tsx'
import { useDraft } from './use-draft.ts'
import type { PlaygroundView } from './use-playground.ts'
import { useStayAtEnd } from './use-stay-at-end.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

type Opened = 'settings' | 'prompt' | 'code' | 'history'

export function PlaygroundDesk({ view }: { readonly view: PlaygroundView }) {
  const { playground, conversation, lanes, settings } = view
  const [opened, setOpened] = useState<Opened>()
  const field = useRef<HTMLTextAreaElement>(null)
  const { prompt, draft, dropModel, dropPrompt } = useAddress(view)
  const { end, isAtEnd, goToEnd } = useStayAtEnd(conversation)
  const close = (): void => setOpened(undefined)
  const [first] = lanes
  const turns = first?.lane.turns ?? []
  const said = turns.find((turn) => turn.kind === 'user')?.text ?? draft.text
  const isCompared = lanes.length > 1
  return (
    <>
      <PageTitle
        title={t('Playground')}
        actions={
          <div className="flex flex-wrap gap-2">
            <Button
              variant="secondary"
              icon={<HistoryIcon aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('history')}
            >
              {t('Histórico')}
            </Button>
            <Button
              variant="secondary"
              icon={<CodeXml aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('code')}
            >
              {t('Ver código')}
            </Button>
            <Button
              variant="secondary"
              icon={<BookmarkPlus aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('prompt')}
            >
              <Trans
                id="Salvar{span}"
                values={{ span: <span className="-ml-1 max-sm:hidden">{t('como prompt')}</span> }}
              />
            </Button>
          </div>
        }
      />
      {prompt.isError && (
        <div className="mb-6">
          <PromptFault
            error={prompt.error}
            onRetry={() => void prompt.refetch()}
            onDrop={dropPrompt}
          />
        </div>
      )}
      <div
        className={classNames('grid gap-6', !isCompared && 'lg:grid-cols-[minmax(0,1fr)_19rem]')}
      >
        <div className="flex min-w-0 flex-col rounded-card border border-line bg-surface shadow-card min-h-[calc(100svh-14rem)] lg:h-[calc(100dvh-10rem)] lg:min-h-[32rem]">
          <div className="flex flex-wrap gap-2 border-b border-line p-3">
            <ModelChoices view={view} dropModel={dropModel} />
            <div className="min-w-0 grow basis-0 sm:min-w-40">
              <KeyChoice view={view} />
            </div>
            <Button
              variant="secondary"
              className="px-3"
              aria-label={t('Comparar com outro modelo')}
              title={t('Comparar com outro modelo')}
              disabled={lanes.length >= LANES_MAX}
              icon={<Columns2 aria-hidden="true" className="size-4" />}
              onClick={() => playground.addLane(nextModel(view))}
            >
              <span className="max-sm:hidden">{t('Comparar')}</span>
            </Button>
            <Button
              variant="secondary"
              className={classNames('px-3', !isCompared && 'lg:hidden')}
              icon={<SlidersHorizontal aria-hidden="true" className="size-4" />}
              onClick={() => setOpened('settings')}
            >
              <span className="max-sm:sr-only">
                <Trans
                  id="Ajustes{settings}"
                  values={{
                    settings: changedCount(settings) > 0 && ` (${changedCount(settings)})`,
                  }}
                />
              </span>
            </Button>
            <Button
              variant="secondary"
              className="px-3"
              aria-label={t('Nova conversa')}
              title={t('Nova conversa')}
              disabled={turns.length === 0}
              icon={<SquarePen aria-hidden="true" className="size-4" />}
              onClick={() => {
                playground.clear()
                field.current?.focus()
              }}
            />
          </div>
          <Thread
            view={view}
            end={end}
            hasPrompt={draft.prompt !== undefined}
            onSuggest={(text) => {
              draft.write(text)
              field.current?.focus()
            }}
          />
          <Composer
            view={view}
            draft={draft}
            field={field}
            goToEnd={isAtEnd || turns.length === 0 ? undefined : goToEnd}
          />
        </div>
        {!isCompared && (
          <Card title={t('Ajustes')} className="self-start max-lg:hidden">
            <SettingsFields view={view} />
          </Card>
        )}
      </div>
      <Dialog isOpen={opened === 'settings'} onClose={close} title={t('Ajustes')}>
        <SettingsFields view={view} />
      </Dialog>
      <SavePrompt
        isOpen={opened === 'prompt'}
        onClose={close}
        text={[settings.system.trim(), said].filter((part) => part !== '').join('\n\n')}
        model={first?.modelId ?? ''}
      />
      <History isOpen={opened === 'history'} onClose={close} view={view} />
      <RequestCode isOpen={opened === 'code'} onClose={close} view={view} draft={draft.text} />
    </>
  )
}

interface ModelChoicesProps {
  readonly view: PlaygroundView
  /** The model of the address is no longer wanted. */
  readonly dropModel: () => void
}

function ModelChoices({ view: { playground, lanes, models }, dropModel }: ModelChoicesProps) {
  const isCompared = lanes.length > 1
  return (
    <ul
      aria-label={isCompared ? t('Modelos que respondem') : t('Modelo que responde')}
      className={classNames(
        'grid min-w-0 basis-full gap-2',
        isCompared ? 'sm:grid-cols-2 xl:grid-cols-4' : 'sm:grow sm:basis-0',
      )}
    >
      {lanes.map(({ lane, modelId, model }) => (
        <li key={lane.id} className="flex min-w-0 items-center">
          <div className="min-w-0 grow">
            <ModelChoice
              models={models}
              modelId={modelId}
              onChoose={(chosen) => {
                playground.setModel(lane.id, chosen)
                dropModel()
              }}
            />
          </div>
          {isCompared && (
            <button
              type="button"
              aria-label={t('Tirar {displayName} da comparação', {
                displayName: model?.display_name ?? modelId,
              })}
              onClick={() => playground.removeLane(lane.id)}
              className="inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:size-10"
            >
              <X aria-hidden="true" className="size-4" />
            </button>
          )}
        </li>
      ))}
    </ul>
  )
}

/** The first chat model that is not yet compared. */
function nextModel({ models, lanes }: PlaygroundView): string {
  const used = lanes.map(({ modelId }) => modelId)
  const free = models.filter(({ id, available }) => available && !used.includes(id))
  return (free.find(({ category }) => category === 'llm') ?? free[0])?.id ?? used[0] ?? ''
}

interface PromptFaultProps {
  readonly error: unknown
  readonly onRetry: () => void
  readonly onDrop: () => void
}

function PromptFault({ error, onRetry, onDrop }: PromptFaultProps) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Notice tone="warning">
      {t('Este prompt não existe mais: foi apagado ou é de outra conta.')}{' '}
      <button type="button" className="underline underline-offset-4" onClick={onDrop}>
        {t('Conversar sem ele')}
      </button>
    </Notice>
  )
}

/**
 * Reads `?modelo=` and `?prompt=` from the URL, until another model is chosen or the prompt is sent. The models of
 * `?comparar=` begin a conversation of their own; the one before stays in the history.
 */
function useAddress({ playground, conversation, models }: PlaygroundView) {
  const [{ modelo, comparar, prompt: promptId }, change] = useFilters(
    'modelo',
    'comparar',
    'prompt',
  )
  const prompt = useQuery({ ...promptQuery(promptId), enabled: promptId !== '' })
  const dropPrompt = (): void => {
    if (promptId !== '') change({ prompt: '' })
  }
  const draft = useDraft(promptId === '' ? undefined : prompt.data, dropPrompt)
  const wanted = modelo !== '' ? modelo : (promptId !== '' && prompt.data?.default_model) || ''
  const [first] = conversation.lanes
  const laneId = first?.id
  useEffect(() => {
    if (wanted !== '' && laneId !== undefined) playground.setModel(laneId, wanted)
  }, [playground, laneId, wanted])
  useEffect(() => {
    if (comparar === '') return
    const known = comparar.split(' ').filter((id) => models.some((model) => model.id === id))
    if (known.length > 0) playground.open(emptyConversation(known.slice(0, LANES_MAX)))
    change({ comparar: '' })
    // Of the address alone: it is empty from now on.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [comparar])
  const dropModel = (): void => {
    if (modelo !== '') change({ modelo: '' })
  }
  return { prompt, draft, dropModel, dropPrompt }
}
