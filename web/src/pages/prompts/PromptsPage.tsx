import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FileText, Plus } from 'lucide-react'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { EXAMPLE_DRAFT } from './prompt-draft.ts'
import { PromptList } from './PromptList.tsx'
import { PromptText } from './PromptText.tsx'
import { promptsQuery } from './prompt-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function PromptsPage() {
  const found = useInfiniteQuery(promptsQuery({ q: '', tag: '' }))
  const hasAny = (found.data?.pages[0]?.prompts.length ?? 0) > 0
  return (
    <>
      <PageTitle
        title={t('Prompts')}
        description={t(
          'Textos que você reaproveita, com variáveis, versões e o custo de cada execução.',
        )}
        actions={
          hasAny && (
            <Link to="/prompts/novo" className={buttonClass('primary')}>
              <Plus aria-hidden="true" className="size-4" />
              {t('Novo prompt')}
            </Link>
          )
        }
      />
      {found.isPending && (
        <Card>
          <SkeletonRows rows={5} label={t('Carregando os prompts')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && !hasAny && <NoPrompts />}
      {found.data && hasAny && <PromptList all={found} />}
    </>
  )
}

function NoPrompts() {
  return (
    <Card>
      <EmptyState
        icon={<FileText className="size-6" />}
        title={t('Nenhum prompt ainda')}
        action={
          <div className="flex flex-wrap justify-center gap-3">
            <Link to="/prompts/novo" className={buttonClass('primary')}>
              <Plus aria-hidden="true" className="size-4" />
              {t('Novo prompt')}
            </Link>
            <Link
              to="/prompts/novo"
              search={{ exemplo: true }}
              className={buttonClass('secondary')}
            >
              {t('Começar por este exemplo')}
            </Link>
          </div>
        }
      >
        {t(
          'Guarde aqui os textos que você manda aos modelos. O que muda a cada vez vira uma variável, e cada mudança do texto vira uma versão que você pode comparar e restaurar.',
        )}
      </EmptyState>
      <figure className="mx-auto mb-4 max-w-xl rounded-lg bg-sunken p-4">
        <figcaption className="mb-2 text-xs font-medium text-muted">
          <Trans id="Exemplo: {name}" values={{ name: EXAMPLE_DRAFT().name }} />
        </figcaption>
        <PromptText body={EXAMPLE_DRAFT().body} />
      </figure>
    </Card>
  )
}
