import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Copy, MessagesSquare, Trash2 } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { dateTime } from '../../format/date.ts'
import { useFilters } from '../../lib/use-filters.ts'
import { CallPrompt } from './CallPrompt.tsx'
import { DeletePrompt } from './DeletePrompt.tsx'
import { EditPrompt } from './EditPrompt.tsx'
import { BackToPrompts } from './NewPromptPage.tsx'
import { promptQuery, type Prompt } from './prompt-queries.ts'
import { isGone } from './prompt-words.ts'
import { RunPrompt } from './RunPrompt.tsx'
import { RunList } from './RunList.tsx'
import { UnsavedGuard } from './UnsavedGuard.tsx'
import { useClonePrompt } from './use-prompt-acts.ts'
import { useDraft } from './use-draft.ts'
import { Versions } from './Versions.tsx'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const VIEWS = perLanguage(
  () =>
    [
      ['editar', t('Editar')],
      ['versoes', t('Versões')],
      ['executar', t('Executar')],
      ['execucoes', t('Execuções')],
      ['api', t('API')],
    ] as const,
)
const FIRST_VIEW = 'editar'
/** Hidden panels stay mounted, so that they keep their input. */
const PANEL = 'data-[state=inactive]:hidden'

export function PromptPage() {
  const { id = '' } = useParams({ strict: false })
  const found = useQuery(promptQuery(id))
  // A prompt that was deleted elsewhere may still be in the cache.
  const isThere = found.data !== undefined && !(found.error && isGone(found.error))
  return (
    <>
      <BackToPrompts />
      {isThere ? (
        <Details key={id} prompt={found.data} />
      ) : (
        <>
          <PageTitle title={t('Prompt')} />
          {found.isPending ? (
            <Card>
              <SkeletonRows rows={6} label={t('Carregando o prompt')} />
            </Card>
          ) : (
            <Failure error={found.error} onRetry={() => void found.refetch()} />
          )}
        </>
      )}
    </>
  )
}

function Details({ prompt }: { readonly prompt: Prompt }) {
  const [{ ver }, change] = useFilters('ver')
  const work = useDraft(prompt)
  const view = VIEWS().some(([value]) => value === ver) ? ver : FIRST_VIEW
  const isUnsaved = work.changes !== undefined
  return (
    <>
      <PageTitle
        title={prompt.name}
        description={t('Versão {version}, alterado em {updatedAt}', {
          version: prompt.version,
          updatedAt: dateTime(prompt.updated_at),
        })}
        actions={<Actions prompt={prompt} />}
      />
      <Tabs.Root
        value={view}
        onValueChange={(value) => change({ ver: value === FIRST_VIEW ? '' : value })}
        className="grid gap-5"
      >
        <Tabs.List
          aria-label={t('Partes do prompt')}
          className="flex overflow-x-auto border-b border-line"
        >
          {VIEWS().map(([value, text]) => (
            <Tabs.Trigger
              key={value}
              value={value}
              className="min-h-11 border-b-2 border-transparent px-3 text-sm font-medium whitespace-nowrap text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {text}
              {value === FIRST_VIEW && isUnsaved && (
                <span
                  role="img"
                  aria-label={t('com mudanças não salvas')}
                  className="ml-1.5 inline-block size-2 rounded-full bg-warning align-middle"
                />
              )}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        <Tabs.Content value="editar" tabIndex={-1} forceMount className={PANEL}>
          <EditPrompt prompt={prompt} work={work} />
        </Tabs.Content>
        <Tabs.Content value="versoes" tabIndex={-1}>
          <Versions prompt={prompt} isUnsaved={isUnsaved} onRestored={work.discard} />
        </Tabs.Content>
        <Tabs.Content value="executar" tabIndex={-1} forceMount className={PANEL}>
          <RunPrompt prompt={prompt} isUnsaved={isUnsaved} />
        </Tabs.Content>
        <Tabs.Content value="execucoes" tabIndex={-1}>
          <RunList promptId={prompt.id} onRun={() => change({ ver: 'executar' })} />
        </Tabs.Content>
        <Tabs.Content value="api" tabIndex={-1}>
          <CallPrompt prompt={prompt} />
        </Tabs.Content>
      </Tabs.Root>
      <UnsavedGuard isUnsaved={isUnsaved} />
    </>
  )
}

function Actions({ prompt }: { readonly prompt: Prompt }) {
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  const clone = useClonePrompt(
    ({ id }) => void navigate({ to: '/prompts/$id', params: { id }, search: {} }),
  )
  return (
    <div className="flex flex-wrap gap-2 max-sm:gap-1.5">
      <Link
        to="/playground"
        search={{ prompt: prompt.id }}
        className={buttonClass('secondary', 'max-sm:px-3')}
      >
        <MessagesSquare aria-hidden="true" className="size-4" />
        <span className="max-sm:capitalize">
          <span className="max-sm:sr-only">{t('Abrir no ')}</span>
          {t('playground')}
        </span>
      </Link>
      <Button
        variant="secondary"
        className="max-sm:px-3"
        isBusy={clone.isPending}
        onClick={() => clone.mutate(prompt)}
        icon={<Copy aria-hidden="true" className="size-4" />}
      >
        {t('Duplicar')}
      </Button>
      <Button
        variant="quiet"
        className="px-3 max-sm:px-2 max-sm:[&>svg]:hidden"
        onClick={() => setDeleting(true)}
        icon={<Trash2 aria-hidden="true" className="size-4" />}
      >
        {t('Excluir')}
      </Button>
      <DeletePrompt
        prompt={isDeleting ? prompt : undefined}
        onClose={() => setDeleting(false)}
        // Unsaved edits are discarded with the prompt.
        onDeleted={() => void navigate({ to: '/prompts', ignoreBlocker: true })}
      />
    </div>
  )
}

function Failure({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  if (!isGone(error)) return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Card>
      <EmptyState
        title={t('Este prompt não existe mais')}
        action={
          <Link to="/prompts" className={buttonClass('secondary')}>
            {t('Ver todos os prompts')}
          </Link>
        }
      />
    </Card>
  )
}
