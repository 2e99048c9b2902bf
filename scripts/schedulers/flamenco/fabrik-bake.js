// SPDX-License-Identifier: GPL-3.0-or-later
// Flamenco job type: bakes the shots of a job file, some in each task.

const JOB_TYPE = {
  label: "FABRIK Bake",
  description: "Bake the shots of a FABRIK job file",
  settings: [
    { key: "job_file", type: "string", subtype: "file_path", required: true,
      description: "The job file; its shots' files and outputs are in its folder, on storage that all workers see" },
    { key: "shots", type: "string", required: true,
      description: "Entries of the job file, counted from 1. Examples: '7', '1-30', '3, 5-10'" },
    { key: "shots_per_task", type: "int32", default: 5, visible: "submission",
      description: "Number of shots that one task bakes" },
  ],
};

function compileJob(job) {
  const settings = job.settings;
  frameChunker(settings.shots, settings.shots_per_task).forEach(function (entries) {
    const task = author.Task("bake-" + entries, "blender");
    task.addCommand(author.Command("exec", {
      exe: "{blender}",
      args: ["--background", "--command", "fabrik", "bake", "--job", settings.job_file, "--index", entries, "--progress",
        "--allow-unreached"],
    }));
    job.addTask(task);
  });
}
