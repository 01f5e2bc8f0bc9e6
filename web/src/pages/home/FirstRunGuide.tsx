/**
 * The steps from an empty account to the first answer of a model; the API's data ticks them off. Hidden once
 * all are done.
 */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { brl } from '../../format/brl.ts'
import type { TrialCredit } from '../trial-credit/trial-credit-query.ts'
import { TRIAL_TEXT, trialTitle } from '../trial-credit/TrialCreditCard.tsx'
import { TrialCreditForm } from '../trial-credit/TrialCreditForm.tsx'
import { FirstRequest } from './FirstRequest.tsx'
import { GuideStep } from './GuideStep.tsx'
import type { FirstSteps } from './use-first-steps.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface Step {
  readonly isDone: boolean
  readonly title: string
  readonly text: string
  readonly to?: '/perfil' | '/recargas' | '/chaves' | '/playground'
  readonly action?: string
  readonly content?: ReactNode
}

export function FirstRunGuide({ steps }: { steps: FirstSteps }) {
  const { trial, hasKey, hasCalled } = steps
  const all: readonly Step[] = [
    ...(trial ? [trialStep(trial)] : paymentSteps(steps)),
    keyStep(hasKey, hasCalled),
    callStep(hasCalled),
  ]
  const doneCount = all.filter(({ isDone }) => isDone).length
  if (doneCount === all.length) return null
  const next = all.findIndex(({ isDone }) => !isDone)

  return (
    <Card
      title={t('Do zero à primeira resposta')}
      description={
        <span role="status">
          <Trans id="{doneCount} de {all} passos feitos" values={{ doneCount, all: all.length }} />
        </span>
      }
    >
      <ol className="flex flex-col">
        {all.map(({ content, ...step }, place) => (
          <GuideStep key={step.title} {...step} isNext={place === next}>
            {content}
          </GuideStep>
        ))}
      </ol>
    </Card>
  )
}

function trialStep(trial: TrialCredit): Step {
  if (trial.status === 'granted')
    return {
      isDone: true,
      title: t('{amountBrl} para experimentar', { amountBrl: brl(trial.amount_brl) }),
      text: '',
    }
  return {
    isDone: false,
    title: trialTitle(trial),
    text: TRIAL_TEXT(),
    content: (
      <div className="mt-3 grid justify-items-start gap-3">
        <TrialCreditForm offer={trial} />
        <Link to="/recargas" className={buttonClass('quiet', '-ml-4')}>
          {t('Prefiro recarregar com Pix')}
        </Link>
      </div>
    ),
  }
}

function paymentSteps({ hasProfile, hasPaid }: FirstSteps): readonly Step[] {
  return [
    {
      isDone: hasProfile,
      title: t('Complete seu perfil'),
      text: t('Nome e CPF ou CNPJ de quem paga: o Pix precisa deles.'),
      to: '/perfil',
      action: t('Completar perfil'),
    },
    {
      isDone: hasPaid,
      title: t('Recarregue com Pix'),
      text: t(
        'A partir de R$ 20. Cai em segundos, e o que você não usar pode ser devolvido em até 7 dias.',
      ),
      to: '/recargas',
      action: t('Recarregar'),
    },
  ]
}

/** Who has not asked a model anything yet sees it work before there is code to write. */
function keyStep(hasKey: boolean, hasCalled: boolean): Step {
  return {
    isDone: hasKey,
    title: t('Crie uma chave'),
    text: t('Com um limite em cada chave, um erro no código não gasta mais do que você permitir.'),
    to: '/chaves',
    action: t('Criar chave'),
    ...(hasCalled
      ? {}
      : {
          content: (
            <Link
              to="/playground"
              className={buttonClass('secondary', 'mt-3 max-sm:whitespace-normal')}
            >
              {t('Antes, experimentar no playground')}
            </Link>
          ),
        }),
  }
}

function callStep(hasCalled: boolean): Step {
  return {
    isDone: hasCalled,
    title: t('Faça a primeira chamada'),
    text: t(
      'Aqui, no playground, ou do seu código. Funciona com a biblioteca da OpenAI: só muda o endereço.',
    ),
    to: '/playground',
    action: t('Abrir o playground'),
    content: <FirstRequest />,
  }
}
