// Puts the parts of the page together.

import {Connection} from './connection.js';
import {byId, setText, setTitle} from './dom.js';
import {Graph} from './graph.js';
import {LargeImage} from './large_image.js';
import * as state from './page_state.js';
import {ParametersView} from './parameters_view.js';
import {Plots} from './plots.js';
import {PublishForm} from './publish_form.js';
import {RecordingBar} from './recording_bar.js';
import {learn, now} from './server_time.js';
import {ServicesView} from './services_view.js';
import {startSplitter} from './splitter.js';
import {count, duration, rate, visible} from './text.js';
import {startTheme} from './theme.js';
import {TopicPanel} from './topic_panel.js';
import {TopicsTable} from './topics_table.js';

const LIVE_VIEWS = ['graph', 'parameters', 'services'];
const BANNER_AFTER_MS = 400;  // a reconnect that is this fast needs no alarm

const connection = new Connection(`${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/ws`);
const panels = [];  // the newest first
let view = 'topics';
let system = null;
let systemAt = 0;
let live = true;
let restoring = true;
let bannerTimer = 0;

const table = new TopicsTable({onopen: toggleTopic, onchange: save});
const graph = new Graph({onopen: (name) => openTopic(name, false)});
const plots = new Plots(connection, () => {
  byId('tab-plots').dataset.count = plots.count || '';
  showView(view);
});
const publish = new PublishForm(connection);
const parameters = new ParametersView(connection);
const services = new ServicesView(connection);
const recording = new RecordingBar(connection);
const large = new LargeImage();
const narrow = matchMedia('(max-width: 860px)');  // as in page.css: one thing at a time

function save() {
  if (restoring) return;
  state.write({view, filter: table.filter, sort: table.sort, window: plots.window,
    topics: panels.map((panel) => ({name: panel.topic, image: panel.imageShown})), plots: plots.fields});
}

function showView(name) {
  if (LIVE_VIEWS.includes(name) && !live) name = 'topics';
  if (name === 'opened' && !narrow.matches) {  // they are beside the view already
    const first = panels[0]?.element;
    (first ?? byId('opened')).focus();
    first?.scrollIntoView({block: 'nearest'});
    if (view !== 'opened') return;
    name = 'topics';
  }
  if (name !== view) large.close();
  view = name;
  document.body.dataset.view = name;
  for (const each of state.VIEWS) {
    byId(`tab-${each}`).setAttribute('aria-selected', String(each === name));
    byId(`tab-${each}`).tabIndex = each === name ? 0 : -1;
  }
  byId('view-topics').hidden = name !== 'topics';
  byId('view-graph').hidden = name !== 'graph';
  byId('view-parameters').hidden = name !== 'parameters';
  byId('view-services').hidden = name !== 'services';
  byId('plots-area').hidden = LIVE_VIEWS.includes(name) || (plots.count === 0 && name !== 'plots');
  byId('plots-empty').hidden = plots.count > 0;
  if (name === 'graph') graph.shown();
  if (name === 'parameters' || name === 'services') connection.show(name);
  save();
}

function openedChanged() {
  byId('opened-empty').hidden = panels.length > 0;
  byId('tab-opened').dataset.count = panels.length || '';
  document.body.classList.toggle('has-opened', panels.length > 0);
  table.setOpened(panels.map((panel) => panel.topic));
  save();
}

function openTopic(name, image) {
  const there = panels.find((panel) => panel.topic === name);
  if (there) {
    there.element.scrollIntoView({block: 'nearest'});
    return;
  }
  const panel = new TopicPanel(connection, name, {
    onclose: closePanel,
    onplot: (field) => plots.add(field),
    onchange: save,
    onlarge: (each) => large.toggle(each),
    onimageend: (each) => large.forget(each),
    live: () => live,
  });
  if (image) panel.showImage(true);
  panels.unshift(panel);
  byId('opened').prepend(panel.element);
  byId('opened').scrollTop = 0;
  if (system) updatePanel(panel, topicsByName());
  openedChanged();
}

function closePanel(panel) {
  panel.close();
  panels.splice(panels.indexOf(panel), 1);
  openedChanged();
}

function toggleTopic(name) {
  const there = panels.find((panel) => panel.topic === name);
  if (there) closePanel(there);
  else openTopic(name, false);
}

const topicsByName = () => new Map(system.topics.map((topic) => [topic.name, topic]));

function updatePanel(panel, topics) {
  panel.update(systemAt, topics.get(panel.topic));
}

function showSystem(message) {
  const first = system === null;
  system = {...message, topics: message.topics ?? [], participants: message.participants ?? []};
  systemAt = message.now ? Number(message.now) / 1e9 : now();
  if (message.now) learn(message.now);
  table.update(system.topics);
  graph.update(system);
  publish.update(system.topics);
  const topics = topicsByName();
  for (const panel of panels) updatePanel(panel, topics);
  const hosts = (message.hosts ?? []).length;
  const sent = system.participants.reduce((sum, each) => sum + (each.sent_hz ?? 0), 0);
  setText(byId('summary'), live
    ? `${count(system.topics.length)} topics   ${count(system.participants.length)} programs   ${hosts} ${hosts === 1 ? 'host' : 'hosts'}   ${rate(sent)}`
    : `${count(system.topics.length)} topics`);
  setTitle(byId('summary'), message.broker?.endpoint ? `broker ${visible(message.broker.endpoint)}` : '');
  banner('broker', message.problem ? `No answer from the broker: ${visible(message.problem, 300)}.${message.broker ? ' The figures are the last ones known.' : ''}` : '');
  if (first) document.body.classList.add('ready');
}

function banner(about, text) {
  const line = byId(`banner-${about}`);
  line.hidden = text === '';
  setText(line, text);
}

function connectedNow() {
  clearTimeout(bannerTimer);
  bannerTimer = 0;
  banner('connection', '');
  document.body.classList.remove('lost');
}

function connectionLost({detail}) {
  bannerTimer ||= setTimeout(() => {
    document.body.classList.add('lost');
    const why = detail.reason ? ` It says: ${visible(detail.reason, 200)}.` : '';
    banner('connection', `No connection to orc web.${why} Trying again …`);
  }, BANNER_AFTER_MS);
}

function restore() {
  restoring = true;
  const from = state.read();
  table.setFilter(from.filter);
  table.setSort(from.sort);
  plots.window = from.window;
  for (const {name, image} of from.topics.reverse()) openTopic(name, image);
  for (const fields of from.plots) plots.create(fields);
  restoring = false;
  showView(from.view === 'opened' && !narrow.matches ? 'topics' : from.view);
}

function keys(event) {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.ctrlKey || event.metaKey || event.altKey || typing || byId('publish').open) return;
  const number = Number(event.key);
  if (event.key === '/') {
    event.preventDefault();
    showView('topics');
    byId('filter').focus();
    byId('filter').select();
  } else if (number >= 1 && number <= state.VIEWS.length) showView(state.VIEWS[number - 1]);
  else if (event.key === 'p') plots.pause(!plots.paused);
  else if (event.key === ' ' && recording.shown && event.target.tagName !== 'BUTTON') {
    event.preventDefault();
    recording.toggle();
  } else if (event.key === 'Escape' && large.shown) large.close();
}

function start() {
  for (const each of state.VIEWS) byId(`tab-${each}`).addEventListener('click', () => showView(each));
  byId('tabs').addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const shown = state.VIEWS.filter((each) => byId(`tab-${each}`).offsetParent !== null);
    const to = shown[(shown.indexOf(view) + step + shown.length) % shown.length];
    showView(to);
    byId(`tab-${to}`).focus();
  });
  document.addEventListener('keydown', keys);
  connection.addEventListener('open', () => connectedNow());
  connection.addEventListener('closed', connectionLost);
  connection.addEventListener('hello', ({detail}) => {
    live = detail.mode !== 'recording';
    if (live && detail.now) learn(detail.now);
    document.body.classList.toggle('recording', !live);
    table.showRecording(!live);
    if (LIVE_VIEWS.includes(view)) showView(view);
    for (const each of [publish, parameters, services]) each.allow(detail.publish === true);
    recording.begin(detail);
    byId('version').title = `orc web ${visible(detail.version ?? '')}`;
  });
  connection.addEventListener('system', ({detail}) => showSystem(detail));
  connection.addEventListener('time', ({detail}) => {
    banner('recording', detail.problem ? `Part of the recording cannot be shown: ${visible(detail.problem, 300)}` : '');
  });
  setInterval(() => {
    for (const panel of panels) panel.tick();
    const old = system ? now() - systemAt : 0;
    byId('summary').classList.toggle('old', live && old > 6);
    if (live && old > 6) setTitle(byId('summary'), `these figures are ${duration(old)} old`);
  }, 250);
  narrow.addEventListener('change', () => {
    if (view === 'opened') showView('topics');
  });
  restore();
  startSplitter();
  startTheme(() => {
    plots.restyle();
    for (const panel of panels) panel.restyle();
  });
  connection.show('system');
  connection.start();
}

start();
